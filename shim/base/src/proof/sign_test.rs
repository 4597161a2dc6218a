//! Sequential sign test: Howard, Ramdas, McAuliffe, Sekhon, Annals of Statistics 2021; the mixture
//! over p is uniform on [1/2, 1].

/// Numbers of pairs that a candidate won and lost so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Signs {
    /// Number of pairs in which the candidate was faster.
    pub wins: u32,
    /// Number of other pairs. A tie is a loss.
    pub losses: u32,
}

/// Number of pairs beyond which the whole numbers of the test do not fit 128 bits.
const MOST_PAIRS: u32 = 100;

impl Signs {
    /// True if the wins favour the candidate with odds of at least `odds` to 1.
    ///
    /// If it is no faster, this ever becomes true, after any number of pairs, with probability
    /// 1/`odds` at most (Ville's inequality). After 100 pairs nothing is proven any more.
    ///
    /// The likelihood ratio, `E = 2 * integral from 1/2 to 1 of (2p)^w (2(1-p))^l dp`, is `sum of
    /// C(n+1, k) for k = 0..w, over (n+1) C(n, w)` with `n = w + l`: computed without rounding, so
    /// that all ranks with the same numbers decide alike.
    pub fn favour(self, odds: u32) -> bool {
        let pairs = self.wins + self.losses;
        if pairs > MOST_PAIRS {
            return false;
        }
        let (mut sum, mut binomial) = (1u128, 1u128); // C(n+1, 0)
        for k in 1..=self.wins {
            binomial = binomial * u128::from(pairs + 2 - k) / u128::from(k);
            sum += binomial;
        }
        // (n+1) C(n, w) is (n+1-w) C(n+1, w).
        sum >= u128::from(odds) * u128::from(pairs + 1 - self.wins) * binomial
    }

    /// Returns the signs of the other side: wins as losses.
    pub fn mirrored(self) -> Signs {
        Signs {
            wins: self.losses,
            losses: self.wins,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn favoured(wins: u32, pairs: u32, odds: u32) -> bool {
        let losses = pairs - wins;
        Signs { wins, losses }.favour(odds)
    }

    /// E(n, n) = (2^(n+1) - 1) / (n + 1).
    #[test]
    fn straight_wins_have_the_odds_of_the_formula() {
        for (pairs, odds) in [(5, 10), (6, 18), (7, 31), (8, 56), (9, 102), (10, 186)] {
            assert!(favoured(pairs, pairs, odds), "{pairs} wins");
            assert!(!favoured(pairs, pairs, odds + 1), "{pairs} wins");
        }
    }

    #[test]
    fn as_many_wins_are_needed_for_20_to_1_as_the_literature_tabulates() {
        let needed = [
            (7, 7),
            (8, 8),
            (9, 9),
            (10, 10),
            (11, 10),
            (12, 11),
            (13, 12),
            (14, 12),
            (15, 13),
            (16, 14),
            (17, 14),
            (18, 15),
            (19, 16),
            (20, 16),
        ];
        for (pairs, wins) in needed {
            assert!(favoured(wins, pairs, 20), "{wins} of {pairs}");
            assert!(!favoured(wins - 1, pairs, 20), "{} of {pairs}", wins - 1);
        }
    }

    #[test]
    fn nothing_is_proven_by_no_pairs_or_by_more_than_fit() {
        assert!(!Signs::default().favour(2));
        assert!(favoured(100, 100, u32::MAX));
        assert!(!favoured(101, 101, 2));
        let lost = Signs { wins: 0, losses: 9 };
        assert!(!lost.favour(2) && lost.mirrored().favour(20));
    }
}
