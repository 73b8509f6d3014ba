//! Much at once: what came while nobody looked, in a rebuilt folder, around a restored copy, or waited too long.

mod bench;
mod gathered;
mod late;
mod restored;
mod watched;
