//! The coefficients of explicit Runge-Kutta schemes.

/// An explicit scheme with fixed coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scheme {
    /// The classical Runge-Kutta scheme: order four, four evaluations of the dynamics per step.
    RungeKutta4,
    /// The Dormand-Prince scheme with two error estimates, DOP853: order eight, twelve evaluations per step.
    DormandPrince8,
}

/// Nodes, rows and weights, and the weights of the error estimates, if any.
#[derive(Debug)]
pub(super) struct Tableau {
    pub nodes: &'static [f64],
    pub stages: &'static [&'static [f64]],
    pub weights: &'static [f64],
    pub errors: &'static [&'static [f64]],
}

impl Scheme {
    /// The order; the local error is of this order plus one.
    pub fn order(self) -> u8 {
        match self {
            Self::RungeKutta4 => 4,
            Self::DormandPrince8 => 8,
        }
    }

    pub(super) fn tableau(self) -> &'static Tableau {
        match self {
            Self::RungeKutta4 => &RUNGE_KUTTA_4,
            Self::DormandPrince8 => &DORMAND_PRINCE_8,
        }
    }
}

static RUNGE_KUTTA_4: Tableau = Tableau {
    nodes: &[0.0, 0.5, 0.5, 1.0],
    stages: &[&[], &[0.5], &[0.0, 0.5], &[0.0, 0.0, 1.0]],
    weights: &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
    errors: &[],
};

/// E. Hairer, S. P. Norsett, G. Wanner, *Solving Ordinary Differential Equations I*, second edition (1993), II.5 and II.10: the coefficients,
/// and the estimates of fifth and third order. Rounded once from 30 digits.
static DORMAND_PRINCE_8: Tableau = Tableau {
    nodes: &[
        0.0,
        0.052_600_151_958_767_73,
        0.078_900_227_938_151_6,
        0.118_350_341_907_227_4,
        0.281_649_658_092_772_6,
        0.333_333_333_333_333_3,
        0.25,
        0.307_692_307_692_307_7,
        0.651_282_051_282_051_3,
        0.6,
        0.857_142_857_142_857_1,
        1.0,
    ],
    stages: &[
        &[],
        &[0.052_600_151_958_767_73],
        &[0.019_725_056_984_537_9, 0.059_175_170_953_613_7],
        &[0.029_587_585_476_806_85, 0.0, 0.088_762_756_430_420_54],
        &[
            0.241_365_134_159_266_7,
            0.0,
            -0.884_549_479_328_286_1,
            0.924_834_003_261_792,
        ],
        &[
            0.037_037_037_037_037_035,
            0.0,
            0.0,
            0.170_828_608_729_473_86,
            0.125_467_687_566_822_42,
        ],
        &[
            0.037_109_375,
            0.0,
            0.0,
            0.170_252_211_019_544_05,
            0.060_216_538_980_455_96,
            -0.017_578_125,
        ],
        &[
            0.037_092_000_118_504_79,
            0.0,
            0.0,
            0.170_383_925_712_239_98,
            0.107_262_030_446_373_28,
            -0.015_319_437_748_624_402,
            0.008_273_789_163_814_023,
        ],
        &[
            0.624_110_958_716_075_7,
            0.0,
            0.0,
            -3.360_892_629_446_941_4,
            -0.868_219_346_841_726,
            27.592_099_699_446_71,
            20.154_067_550_477_894,
            -43.489_884_181_069_96,
        ],
        &[
            0.477_662_536_438_264_34,
            0.0,
            0.0,
            -2.488_114_619_971_667_7,
            -0.590_290_826_836_843,
            21.230_051_448_181_193,
            15.279_233_632_882_423,
            -33.288_210_968_984_86,
            -0.020_331_201_708_508_627,
        ],
        &[
            -0.937_142_430_085_987_3,
            0.0,
            0.0,
            5.186_372_428_844_064,
            1.091_437_348_996_729_5,
            -8.149_787_010_746_927,
            -18.520_065_659_996_96,
            22.739_487_099_350_505,
            2.493_605_552_679_652_3,
            -3.046_764_471_898_219_6,
        ],
        &[
            2.273_310_147_516_538,
            0.0,
            0.0,
            -10.534_495_466_737_25,
            -2.000_872_058_224_862_5,
            -17.958_931_863_118_8,
            27.948_884_529_419_96,
            -2.858_998_277_135_023_5,
            -8.872_856_933_530_63,
            12.360_567_175_794_303,
            0.643_392_746_015_763_6,
        ],
    ],
    weights: &[
        0.054_293_734_116_568_765,
        0.0,
        0.0,
        0.0,
        0.0,
        4.450_312_892_752_409,
        1.891_517_899_314_500_3,
        -5.801_203_960_010_585,
        0.311_164_366_957_819_9,
        -0.152_160_949_662_516_1,
        0.201_365_400_804_030_34,
        0.044_710_615_727_772_59,
    ],
    errors: &[
        &[
            0.013_120_044_994_194_88,
            0.0,
            0.0,
            0.0,
            0.0,
            -1.225_156_446_376_204_4,
            -0.495_758_949_657_250_2,
            1.664_377_182_454_986_4,
            -0.350_328_848_749_973_66,
            0.334_179_118_713_017_5,
            0.081_923_206_485_115_71,
            -0.022_355_307_863_886_294,
        ],
        &[
            -0.189_800_754_072_407_62,
            0.0,
            0.0,
            0.0,
            0.0,
            4.450_312_892_752_409,
            1.891_517_899_314_500_3,
            -5.801_203_960_010_585,
            -0.422_682_321_323_791_97,
            -0.152_160_949_662_516_1,
            0.201_365_400_804_030_34,
            0.022_651_792_198_360_825,
        ],
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Conditions on the coefficients of a scheme: rows sum to their node, and polynomials up to the order minus one are integrated
    /// exactly.
    #[test]
    fn coefficients_meet_their_conditions() {
        for scheme in [Scheme::RungeKutta4, Scheme::DormandPrince8] {
            let tableau = scheme.tableau();
            for (row, node) in tableau.stages.iter().zip(tableau.nodes) {
                assert!((row.iter().sum::<f64>() - node).abs() < 1e-14);
            }
            for power in 0..i32::from(scheme.order()) {
                let pairs = tableau.weights.iter().zip(tableau.nodes);
                let moment: f64 = pairs.map(|(b, c)| b * c.powi(power)).sum();
                assert!((moment - 1.0 / f64::from(power + 1)).abs() < 1e-15);
            }
            for error in tableau.errors {
                assert!(error.iter().sum::<f64>().abs() < 1e-15);
            }
        }
    }
}
