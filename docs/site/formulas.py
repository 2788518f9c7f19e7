r"""The formula of every metric, in LaTeX, for its page.

Notation, the same everywhere: n points; labels y and alarms p of 0 and 1; scores s. Events (runs of y = 1) are
E_1, ..., E_K of lengths L_k, alarm runs A_1, ..., A_J. TP, FP, FN, TN count points. P and R are a precision and a recall;
F(P, R) is their weighted harmonic mean with weight beta. The docstring beside a formula says the rest.
"""

F_OF = r"F_\beta(P, R) = \frac{(1 + \beta^2)\,P\,R}{\beta^2 P + R}"
POINTS = r"P = \frac{TP}{TP + FP}, \quad R = \frac{TP}{TP + FN}"
ADJUSTED = r"p'_i = \max_{j \in E_k} p_j \text{ for } i \in E_k, \quad p'_i = p_i \text{ elsewhere}"
EVENT_RECALL = r"R = \frac{1}{K} \sum_{k=1}^{K} [E_k \text{ has an alarm}]"
RANGE_RECALL = r"R = \frac{1}{K} \sum_{k=1}^{K} \left( \alpha\,[E_k \text{ has an alarm}] + (1 - \alpha)\,\gamma_k\,\omega_k \right)"
RANGE_WORDS = r"\omega_k = \text{share of } E_k \text{ alarmed, weighted by the bias}, \quad \gamma_k = \frac{1}{\text{number of alarm runs in } E_k}"
RANGE_PRECISION = r"P = \frac{1}{J} \sum_{j=1}^{J} \gamma_j\,\omega_j \text{, the same for alarm runs within events}"
AFFILIATION_P = (
    r"P = \text{mean over zones with alarms of } \frac{1}{|A|} \int_{a \in A} \Pr\left[ d(X, E_k) \ge d(a, E_k) \right]"
)
AFFILIATION_R = r"R = \frac{1}{K} \sum_{k=1}^{K} \frac{1}{L_k} \int_{e \in E_k} \Pr\left[ d(X, e) \ge d(A, e) \right]"
AFFILIATION_X = r"X \text{ uniform in the zone of } E_k \text{, which is the times nearer to it than to other events; } A \text{ the alarms there}"
SOFT = r"\tilde y_i = 1 \text{ in events}, \quad \sqrt{1 - d / w} \text{ at distance } d \le w / 2 \text{ from one}, \quad 0 \text{ elsewhere}"
RANGE_AUC = r"\text{recall}_t = \min\left( \frac{TP_t}{P'}, 1 \right) \cdot \text{share of buffered events with an alarm}, \quad \text{false alarm rate}_t = \frac{N_t - TP_t}{n - P'}, \quad \text{precision}_t = \frac{TP_t}{N_t}"
RANGE_WORDS_AUC = r"TP_t = \sum_i \tilde y_i\,[s_i \ge t], \quad N_t = \sum_i [s_i \ge t], \quad P' = \sum_i y_i + \frac{1}{2} \cdot \text{weight of the buffers}"
PATE = r"P = \frac{\text{hits}}{\sum_i p_i}, \quad R = \frac{\text{hits}}{\text{hits} + \text{misses}}"
PATE_HITS = r"\text{an alarm is a hit of } 1 \text{ in an event, of } \frac{z - x}{z - c} \text{ at } x \text{ in the zone after it, of } \frac{x - z}{c - z} \text{ in the zone before it; } z \text{ the far end of the zone, } c \text{ the middle of the event}"
PATE_MISSES = (
    r"\text{a missed point of an event weighs 1, less the further it is behind the first alarm run in the event}"
)

FORMULAS: dict[str, tuple[str, ...]] = {
    # points
    "accuracy": (r"\frac{TP + TN}{n}",),
    "balanced_accuracy": (r"\frac{1}{2} \left( \frac{TP}{TP + FN} + \frac{TN}{TN + FP} \right)",),
    "precision": (r"\frac{TP}{TP + FP}",),
    "recall": (r"\frac{TP}{TP + FN}",),
    "f1": (POINTS, F_OF),
    "mcc": (r"\frac{TP \cdot TN - FP \cdot FN}{\sqrt{(TP + FP)(TP + FN)(TN + FP)(TN + FN)}}",),
    # order of points
    "auc_roc": (r"\Pr\left[ s_i > s_j \right] + \frac{1}{2} \Pr\left[ s_i = s_j \right], \quad y_i = 1,\; y_j = 0",),
    "auc_pr": (
        r"\sum_{t} \left( R_t - R_{t-1} \right) P_t \text{ over the distinct scores } t \text{, from high to low}",
    ),
    "best_f1": (r"\max_t F_\beta(P_t, R_t), \quad P_t, R_t \text{ of the alarms } s \ge t",),
    "precision_at_k": (r"\frac{1}{k} \sum_{i \in \text{top } k} y_i, \quad k = \sum_i y_i \text{ by default}",),
    "auc_roc_pa": (r"s'_i = \max_{j \in E_k} s_j \text{ for } i \in E_k, \quad \text{then AUC-ROC of } s'",),
    "auc_pr_pa": (r"s'_i = \max_{j \in E_k} s_j \text{ for } i \in E_k, \quad \text{then AUC-PR of } s'",),
    # point adjustment
    "f1_pa": (ADJUSTED, r"F_\beta \text{ of the points of } p'"),
    "f1_pa_delay": (
        r"p'_i = \max_{j \le \text{start}_k + d} p_j \text{ for all } i \in E_k, \quad d = \text{max_delay}",
        r"F_\beta \text{ of the points of } p'",
    ),
    "f1_pa_k": (
        r"p'_i = 1 \text{ for all } i \in E_k \text{ where } \frac{1}{L_k} \sum_{j \in E_k} p_j \ge k \text{ and } E_k \text{ has an alarm}",
        r"F_\beta \text{ of the points of } p'",
    ),
    "f1_pa_kl": (
        r"p'_i = 1 \text{ within } r \text{ points of an alarm inside } E_k \text{, if a share } k \text{ of } E_k \text{ is alarmed}",
        r"F_\beta \text{ of the points of } p'",
    ),
    "pa_k_auc": (r"\int_0^1 F_\beta^{PA\%k}\, dk",),
    "reduced_f1": (
        r"R = \frac{\sum_k w_k\,[E_k \text{ has an alarm}]}{\sum_k w_k}, \quad w_k = \left\lfloor \log_3 (L_k + 3) \right\rfloor",
        r"P = \frac{\sum_k w_k\,[E_k \text{ has an alarm}]}{\sum_k w_k\,[E_k \text{ has an alarm}] + FP}",
        F_OF,
    ),
    "balanced_f1_pa": (
        r"p'_i = \max_{|j - i| \le w} p_j, \quad \text{then events with an alarm count as alarmed throughout}",
        r"F_\beta \text{ of the points of } p'",
    ),
    # overlap
    "range_recall": (RANGE_RECALL, RANGE_WORDS),
    "range_precision": (RANGE_PRECISION, r"\gamma_j = \frac{1}{\text{number of events that } A_j \text{ touches}}"),
    "range_f1": (RANGE_RECALL, RANGE_PRECISION, F_OF),
    "tapr_f1": (
        r"R = \frac{1}{K} \sum_{k=1}^{K} \left( \alpha\,[o_k \ge \theta] + (1 - \alpha)\,o_k \right), \quad P = \text{the same over alarm runs}",
        r"o_k = \min\left( \frac{1}{L_k} \sum_{i : p_i = 1} w_k(i),\, 1 \right), \quad w_k = 1 \text{ in } E_k, \text{ falling from 1 to 0 by a logistic in the } \delta \text{ points after it}",
        F_OF,
    ),
    "etapr_f1": (
        r"R = \frac{1}{K} \sum_{E_k \text{ detected}} \frac{1 + o_k}{2}, \quad P = \frac{1}{\sum_j \sqrt{|A_j|}} \sum_{A_j \text{ correct}} \sqrt{|A_j|} \cdot \frac{1 + o_j}{2}",
        r"\text{detected: correct runs cover a share } o_k \ge \theta_r \text{ of } E_k, \quad \text{correct: detected events cover a share } o_j \ge \theta_p \text{ of } A_j",
        F_OF,
    ),
    # events
    "event_recall": (EVENT_RECALL,),
    "event_precision": (
        r"P = \frac{D}{D + F}, \quad D \text{ events with an alarm}, \; F \text{ alarm runs that touch no event}",
    ),
    "event_f1": (
        EVENT_RECALL,
        r"P = \frac{D}{D + F}, \quad D = K R, \; F \text{ alarm runs that touch no event}",
        F_OF,
    ),
    "composite_f1": (EVENT_RECALL, r"P = \frac{TP}{TP + FP} \text{, of points}", F_OF),
    "alarming_precision": (r"\frac{D}{\sum_k [E_k \text{ has an alarm}] \cdot \text{alarm runs that touch } E_k}",),
    "sdqe": (
        r"\frac{1}{K} \sum_{k=1}^{K} \frac{\text{capture}_k + \text{near miss}_k}{2} \cdot \text{false alarm}_k",
        r"\text{near miss} = \left( 1 - \frac{x}{m} \right) \left( 1 - \frac{d}{2m} \right), \quad \text{false alarm} = \left( 1 - \frac{\ell}{M} \right) \frac{Q}{\ell^2}",
        r"x \text{ distance of the nearest alarm in the near zones, } d \text{ length of the alarms there, } m = \text{near; } \ell, Q \text{ sum and sum of squares of the lengths of alarms in the far zones, } M \text{ their length}",
    ),
    "dqe": (
        r"\frac{1}{T} \sum_{t=1}^{T} \text{SDQE of the alarms } s \ge \frac{t}{T}, \quad s \text{ scaled to } [0, 1]",
    ),
    # distance
    "affiliation_precision": (AFFILIATION_P, AFFILIATION_X),
    "affiliation_recall": (AFFILIATION_R, AFFILIATION_X),
    "affiliation_f1": (AFFILIATION_P, AFFILIATION_R, F_OF),
    "normalized_affiliation_f1": (
        r"U = \frac{P - 1/2}{1 - 1/2}, \quad F = \text{sign}(U)\, F_\beta(|U|, R) \text{, with affiliation's } P \text{ and } R",
    ),
    "unbiased_affiliation_f1": (
        r"U = \frac{P - b}{1 - b}, \quad F = \text{sign}(U)\, F_\beta(|U|, R), \quad b \text{ the expected } P \text{ of random alarms}",
    ),
    "time_tolerant_f1": (
        r"P = \frac{\left| \{ i : p_i = 1,\, d(i, y) \le \tau \} \right|}{\sum_i p_i}, \quad R = \frac{\left| \{ i : y_i = 1,\, d(i, p) \le \tau \} \right|}{\sum_i y_i}",
        F_OF,
    ),
    "total_detected_in_range": (r"\frac{\left| \{ i : y_i = 1,\, d(i, p) \le \tau \} \right|}{\sum_i y_i}",),
    "detection_accuracy_in_range": (
        r"\frac{D}{D + \text{false alarms}}, \quad D = \left| \{ i : y_i = 1,\, d(i, p) \le \tau \} \right|",
    ),
    "absolute_detection_distance": (
        r"\text{mean over alarms } i \in E_k \text{ of } \frac{\left| i - \text{centre of } E_k \right|}{L_k}",
    ),
    "average_detection_count": (r"\frac{1}{K} \sum_{k=1}^{K} \frac{1}{L_k} \sum_{i \in E_k} p_i",),
    "temporal_distance": (r"\sum_{i : y_i = 1} d(i, p) + \sum_{i : p_i = 1} d(i, y)",),
    "weighted_detection_difference": (
        r"\sum_{i : p_i = 1,\, y_i = 1} \exp\left( -\frac{x_i^2}{2 w^2} \right) - \sum_{i : p_i = 1,\, y_i = 0} \min\left( \frac{d(i, y)}{\tau}, 1 \right)",
    ),
    "pate": (
        PATE,
        PATE_HITS,
        PATE_MISSES,
        r"\text{area under the curve of } P \text{ over } R \text{, averaged over pairs of buffer sizes}",
    ),
    "pate_f1": (PATE, PATE_HITS, PATE_MISSES, r"F_\beta(P, R) \text{, averaged over pairs of buffer sizes}"),
    # order with neighbourhoods
    "range_auc_roc": (SOFT, RANGE_WORDS_AUC, RANGE_AUC, r"\text{area under recall over false alarm rate}"),
    "range_auc_pr": (SOFT, RANGE_WORDS_AUC, RANGE_AUC, r"\text{area under precision over recall}"),
    "vus_roc": (r"\frac{1}{2W + 1} \sum_{w=0}^{2W} \text{Range-AUC-ROC with buffers of width } w", SOFT),
    "vus_pr": (r"\frac{1}{2W + 1} \sum_{w=0}^{2W} \text{Range-AUC-PR with buffers of width } w", SOFT),
    "ucr_accuracy": (
        r"\left[ d(i^*, E_k) < \max(\text{slack}, L_k) \text{ for some } k \right], \quad i^* = \text{argmax}_i\, s_i",
    ),
    "ears": (
        r"r(x) = \text{mean over } w \in \{0, D\} \text{ of } \frac{\log \frac{1 + \varepsilon}{F_w(x) + \varepsilon}}{\log \frac{1 + \varepsilon}{\varepsilon}}, \quad F_w(x) \text{ the share of false alarms at level } x",
        r"E_k = \sum_{i=1}^{L_k} \left( \left( \tfrac{i}{L_k} \right)^a - \left( \tfrac{i-1}{L_k} \right)^a \right) r(s_i), \quad \text{EARS} = \frac{\frac{1}{K} \sum_k E_k - B}{1 - B}",
    ),
    "cce": (
        r"f(E) = (m_E - \tau)\,e^{-U_E} \text{ for anomalous runs}, \quad f(E) = (1 - \tau - m_E)\,e^{-U_E} \text{ for normal runs}",
        r"\text{CCE} = w_e\,\overline{f(\text{events})} + (1 - w_e)\,\overline{f(\text{normal runs})} + w_g\,f(\text{all anomalous points}) + (1 - w_g)\,f(\text{all normal points})",
        r"m_E \text{ mean and } U_E \text{ uncertainty of the scaled scores in } E, \quad \tau = w_e = w_g = \tfrac{1}{2}",
    ),
    # time
    "detection_delay": (
        r"\text{mean over events with an alarm of } \left( \text{first alarm in } E_k - \text{start of } E_k \right)",
    ),
    "early_detection_score": (
        r"\frac{1}{K} \sum_k \left( 1 - \frac{\text{first alarm} - \text{start of the window}}{\text{length of the window} - 1} \right)",
    ),
    "adtqc": (
        r"\left( \frac{x + a}{a} \right)^{e} \text{ for } -a < x \le 0, \quad \frac{1}{1 + \left( \frac{x}{L - x} \right)^{e}} \text{ for } 0 < x < L, \quad x = \text{alarm} - \text{start}",
    ),
    "latency_sparsity_f1": (
        r"p'_i = \max_{j \in E_k,\, j \le i} p_j \text{ for } i \in E_k, \quad \text{then } F_\beta \text{ of batches of points}",
    ),
    "time_to_recover": (
        r"\text{mean over detected events of } \left( \text{first point without alarm after } E_k - \text{end of } E_k \right)",
    ),
    "nab_score": (
        r"S = \sum_{\text{found}} A_{TP} \frac{\tanh(2.5\,d_k / L_k)}{\tanh 2.5} - \sum_{\text{missed}} A_{FN} - \sum_{i : p_i = 1,\, y_i = 0} A_{FP} \tanh\left( \frac{2.5\,x_i}{L - 1} \right)",
        r"\text{score} = 100 \cdot \frac{S - S_{\text{no alarm}}}{S_{\text{perfect}} - S_{\text{no alarm}}}, \quad d_k \text{ from the first alarm to the end of the event, } x_i \text{ from the event before}",
    ),
    "lead_time": (
        r"\text{mean over events with a warning of } \left( \text{start of } E_k - \text{first alarm within the horizon before it} \right)",
    ),
    # cost
    "expected_cost": (
        r"c_{\text{miss}} \cdot \text{events without an alarm} + c_{\text{false}} \cdot \text{alarm runs that touch no event} + c_{\text{delay}} \cdot \text{hours of delay}",
    ),
    "false_alarms": (r"\frac{1000}{n} \cdot \left| \{ j : A_j \text{ touches no event} \} \right|",),
    "alarm_episodes": (
        r"J \text{, after runs with gaps of at most merge_gap are joined and those shorter than min_duration dropped}",
    ),
    "time_in_alarm": (r"\frac{1}{n} \sum_i p_i",),
}
