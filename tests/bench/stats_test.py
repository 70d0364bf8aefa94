import unittest

from bench import stats


class RatioTest(unittest.TestCase):
    def test_ratio_pairs_repetitions_so_that_a_common_drift_cancels(self):
        other = [1.0, 10.0, 100.0]
        ours = [2.0, 20.0, 200.0]
        self.assertEqual(stats.ratio(ours, other), {"median": 2.0, "lo": 2.0, "hi": 2.0})

    def test_ratio_is_the_median_of_quotients_not_the_quotient_of_medians(self):
        ours, other = [1.0, 2.0, 9.0], [1.0, 4.0, 3.0]
        self.assertEqual(stats.ratio(ours, other)["median"], 1.0)

    def test_repetitions_without_a_partner_are_left_out(self):
        self.assertEqual(stats.paired_ratios([4.0, 6.0, 8.0], [2.0, 2.0]), [2.0, 3.0])

    def test_nothing_to_divide_gives_no_ratio(self):
        self.assertIsNone(stats.ratio([1.0], []))
        self.assertIsNone(stats.ratio([1.0, 2.0], [0.0, 0.0]))


class BootstrapTest(unittest.TestCase):
    def test_interval_holds_the_median_and_stays_within_the_values(self):
        values = [1.0, 1.1, 0.9, 1.05, 0.95, 1.2, 0.8, 1.0, 1.02, 0.98]
        lo, hi = stats.bootstrap_interval(values)
        self.assertLess(lo, 1.0)
        self.assertGreater(hi, 1.0)
        self.assertGreaterEqual(lo, min(values))
        self.assertLessEqual(hi, max(values))

    def test_one_outlier_does_not_move_the_upper_end_far(self):
        _, hi = stats.bootstrap_interval([1.0] * 9 + [50.0])
        self.assertEqual(hi, 1.0)

    def test_equal_input_gives_an_equal_interval(self):
        values = [value ** 2 for value in range(20)]
        # Few resamples: two draws of chance would differ.
        intervals = {stats.bootstrap_interval(values, resamples=30) for _ in range(10)}
        self.assertEqual(len(intervals), 1)

    def test_more_spread_gives_a_wider_interval(self):
        narrow = stats.bootstrap_interval([1 + i / 1000 for i in range(10)])
        wide = stats.bootstrap_interval([1 + i / 10 for i in range(10)])
        self.assertGreater(wide[1] - wide[0], narrow[1] - narrow[0])

    def test_interval_covers_the_true_median_about_as_often_as_it_says(self):
        import random
        chance = random.Random(7)
        hits = 0
        for _ in range(200):
            lo, hi = stats.bootstrap_interval([chance.gauss(1.0, 0.1) for _ in range(10)],
                                              resamples=200)
            hits += lo <= 1.0 <= hi
        self.assertGreater(hits, 170)


class GeometricMeanTest(unittest.TestCase):
    def test_doubling_one_of_two_values_counts_as_root_two(self):
        self.assertAlmostEqual(stats.geometric_mean([2.0, 8.0]), 4.0)
        self.assertAlmostEqual(stats.geometric_mean([4.0, 8.0]) / stats.geometric_mean([2.0, 8.0]),
                               2 ** 0.5)


if __name__ == "__main__":
    unittest.main()
