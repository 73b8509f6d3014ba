//! The resident program and the window's program: who starts, raises, restarts and ends whom.

use std::process::Command;

use crate::support::program::{Program, Running};
use crate::support::wait::{self, secs};
use crate::support::window::Window;

/// On a desktop without tray icons.
fn desktop() -> (Program, Window) {
    let mut program = Program::new();
    let window = Window::of(&mut program);
    (program, window)
}

#[track_caller]
fn wait_running(program: &Program) {
    wait::until("it runs", secs(20), || program.json(&["status"])["running"] == true);
}

fn kill(pid: u32) {
    let killed = Command::new("sh").args(["-c", &format!("kill -9 {pid}")]).status().expect("kill runs");
    assert!(killed.success(), "the window {pid} is there");
}

#[track_caller]
fn stop(mut running: Running) {
    assert!(running.stop().success(), "it stops when asked");
}

#[test]
fn a_start_opens_the_window_and_a_second_one_raises_it() {
    let (program, window) = desktop();
    let running = program.start(&[]);
    window.wait_attached(1);
    let args = format!("--data-dir {}", program.data_dir().display());
    assert!(window.wait("started ", 1).ends_with(&args), "it is told where the data are: {:?}", window.lines());
    program.ok(&[], "");
    window.wait("open null", 1);
    assert_eq!(program.ok(&["--background"], "").stdout, "", "this start leaves the window alone");
    program.ok(&[], "");
    window.wait("open null", 2);
    assert_eq!((window.count("started"), window.count("open")), (1, 2), "{:?}", window.lines());
    stop(running);
    window.wait("bye", 1);
}

#[test]
fn in_the_background_no_window_is_opened_until_somebody_asks() {
    let (program, window) = desktop();
    let running = program.start(&["--background"]);
    wait_running(&program);
    assert_eq!(window.lines(), [""; 0], "nobody asked");
    program.ok(&[], "");
    window.wait_attached(1);
    stop(running);
    window.wait("bye", 1);
}

#[test]
fn a_window_that_breaks_is_started_again_but_not_for_ever_and_a_closed_one_is_not() {
    let (program, window) = desktop();
    let running = program.start(&[]);
    for start in 1..=4 {
        kill(window.wait_attached(start));
    }
    let log = program.data_dir().join("logs/ringonce.log");
    let given_up = || std::fs::read_to_string(&log).unwrap_or_default().contains("broke too often");
    wait::until("it gives up", secs(20), given_up);
    assert_eq!(window.count("started"), 4, "three times by itself");
    assert_eq!(program.json(&["status"])["running"], true, "the watching goes on");
    program.ok(&[], "");
    window.wait_attached(5);
    stop(running);
    window.wait("bye", 1);
}

#[test]
fn a_headless_program_and_a_missing_screen_are_named() {
    let (mut program, window) = desktop();
    let headless = program.start_headless();
    let refused = program.run(&[], "");
    assert!(refused.stderr.contains("runs without a screen"), "{}", refused.stderr);
    assert_eq!(refused.status.code(), Some(1));
    assert!(program.ok(&["--background"], "").stderr.is_empty(), "it runs, and that is all that was asked");
    stop(headless);
    program.env_remove("DISPLAY");
    for args in [[].as_slice(), &["--background"]] {
        let refused = program.run(args, "");
        assert_eq!(refused.status.code(), Some(1), "{args:?}");
        assert!(refused.stderr.contains("run --headless"), "{}", refused.stderr);
    }
    let wrong = program.run(&["--background", "status"], "");
    assert_eq!(wrong.status.code(), Some(2), "{}", wrong.stderr);
    assert_eq!(window.lines(), [""; 0], "no window was started");
}

#[test]
fn a_window_that_cannot_be_started_is_named_and_the_watching_goes_on() {
    let (mut program, _window) = desktop();
    program.env("RINGONCE_APP", "/no/such/program");
    let running = program.start(&[]);
    wait_running(&program);
    let refused = program.run(&[], "");
    assert!(refused.stderr.contains("/no/such/program cannot be started"), "{}", refused.stderr);
    stop(running);
}
