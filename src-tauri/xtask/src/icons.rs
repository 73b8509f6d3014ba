//! `cargo xtask icons`: the tray's icons from their one drawing, `icons/tray.svg`, as coverage in 8 bits a pixel (the
//! program gives them the colour that suits the panel), and the sizes of the app's icon that menus ask for.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Failure;

/// The columns of the drawing.
const STATES: [&str; 4] = ["watching", "attention", "paused", "offline"];
/// Sizes in pixels, in the order of the file, with the cells they are taken from: row and its own size there.
const SIZES: [(u32, u32, u32); 5] = [(16, 0, 16), (22, 1, 24), (24, 1, 24), (32, 0, 16), (48, 1, 24)];
/// Cells begin at multiples of this.
const CELL: u32 = 24;
/// Sizes of the app's icon, and what each is drawn from: the small ones have less in them.
const APP: [(u32, &str); 4] =
    [(16, "ringonce-small.svg"), (24, "ringonce-small.svg"), (48, "ringonce.svg"), (64, "ringonce.svg")];

/// Writes `icons/tray/<state>.alpha` and `icons/<size>x<size>.png`.
pub(crate) fn draw() -> Result<(), Failure> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../icons");
    for (size, drawing) in APP {
        let (side, name) = (size.to_string(), format!("{size}x{size}.png"));
        run("rsvg-convert", &["--width", &side, "--height", &side, "--output", &name, drawing], &folder, &[])?;
    }
    fs::create_dir_all(folder.join("tray")).map_err(|error| format!("icons/tray cannot be made: {error}"))?;
    for (column, state) in (0..).zip(STATES) {
        let mut coverage = Vec::new();
        for (size, row, drawn_at) in SIZES {
            let zoom = f64::from(size) / f64::from(drawn_at);
            let sheet = run("rsvg-convert", &["--zoom", &zoom.to_string(), "tray.svg"], &folder, &[])?;
            let step = CELL * size / drawn_at;
            let cell = format!("{size}x{size}+{}+{}", column * step, row * step);
            let crop = ["png:-", "-alpha", "extract", "-crop", &cell, "-depth", "8", "gray:-"];
            let pixels = run("convert", &crop, &folder, &sheet)?;
            if pixels.len() != (size * size) as usize {
                return Err(format!("{state} at {size} pixels came out with {} of them", pixels.len()));
            }
            coverage.extend(pixels);
        }
        let file = folder.join("tray").join(format!("{state}.alpha"));
        fs::write(&file, coverage).map_err(|error| format!("{} cannot be written: {error}", file.display()))?;
    }
    Ok(())
}

fn run(program: &str, args: &[&str], folder: &Path, input: &[u8]) -> Result<Vec<u8>, Failure> {
    let missing = |error| format!("{program} does not run: {error} (apt install librsvg2-bin imagemagick)");
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(missing)?;
    // Smaller than a pipe holds, so it is written before anything is read.
    let written = child.stdin.take().map(|mut pipe| pipe.write_all(input));
    let output = child.wait_with_output().map_err(|error| format!("{program} broke off: {error}"))?;
    let good = output.status.success() && written.is_none_or(|written| written.is_ok());
    if good { Ok(output.stdout) } else { Err(format!("{program} failed with {}", output.status)) }
}
