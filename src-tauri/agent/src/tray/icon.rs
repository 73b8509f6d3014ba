//! The icons: coverage drawn from `icons/tray.svg` (`cargo xtask icons`), coloured for the panel.

use crate::tray::face::Mark;

/// Sizes in pixels, in the order of the files.
const SIZES: [usize; 5] = [16, 22, 24, 32, 48];

/// The colour of the lines, by what is behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    /// For a dark panel.
    Light,
    /// For a light panel.
    Dark,
}

/// A square picture, ARGB, row by row.
pub(crate) struct Picture {
    pub(crate) size: usize,
    pub(crate) pixels: Vec<u8>,
}

/// A mark in every size.
pub(crate) fn pictures(mark: Mark, ink: Ink) -> Vec<Picture> {
    let [red, green, blue] = match ink {
        Ink::Light => [0xf4, 0xf2, 0xee],
        Ink::Dark => [0x2b, 0x29, 0x26],
    };
    let mut rest = coverage(mark);
    let mut pictures = Vec::with_capacity(SIZES.len());
    for size in SIZES {
        let Some((own, more)) = rest.split_at_checked(size * size) else { break };
        let pixels = own.iter().flat_map(|alpha| [*alpha, red, green, blue]).collect();
        pictures.push(Picture { size, pixels });
        rest = more;
    }
    pictures
}

fn coverage(mark: Mark) -> &'static [u8] {
    match mark {
        Mark::Watching => include_bytes!("../../../../icons/tray/watching.alpha"),
        Mark::Attention => include_bytes!("../../../../icons/tray/attention.alpha"),
        Mark::Paused => include_bytes!("../../../../icons/tray/paused.alpha"),
        Mark::Offline => include_bytes!("../../../../icons/tray/offline.alpha"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKS: [Mark; 4] = [Mark::Watching, Mark::Attention, Mark::Paused, Mark::Offline];

    #[test]
    fn every_mark_comes_in_every_size() {
        for mark in MARKS {
            let sizes: Vec<usize> = pictures(mark, Ink::Light).iter().map(|picture| picture.size).collect();
            assert_eq!((sizes.as_slice(), coverage(mark).len()), (SIZES.as_slice(), 4644), "{mark:?}");
        }
    }

    #[test]
    fn the_marks_differ_in_shape() {
        let solid = |mark| -> Vec<bool> {
            pictures(mark, Ink::Dark).swap_remove(1).pixels.chunks(4).map(|p| p[0] > 127).collect()
        };
        for (at, one) in MARKS.into_iter().enumerate() {
            let drawn = solid(one);
            for other in MARKS.into_iter().skip(at + 1) {
                let differing = drawn.iter().zip(solid(other)).filter(|(a, b)| **a != *b).count();
                assert!(differing >= 10, "{one:?} and {other:?} differ in {differing} of 484 pixels only");
            }
        }
    }
}
