//! `ringonce doctor`

use std::path::Path;
use std::time::Duration;

use ringonce_engine::api::doctor::{Finding, folder};
use ringonce_engine::api::view::Nothing;
use ringonce_engine::model::error::{Fault, FaultCode};
use ringonce_engine::rpc::lock::{DataLock, Taken};
use ringonce_engine::rpc::reach::running;
use serde_json::json;

use crate::cli::failure::{Done, Failure};
use crate::cli::session::{self, data_dir, view};
use crate::cli::{Global, out, words};

/// A running program answers within this.
const ANSWER_WAIT: Duration = Duration::from_secs(5);

pub(crate) async fn run(global: &Global) -> Done {
    let data_dir = data_dir(global)?;
    let mut findings = Vec::new();
    let mut usable = true;
    if data_dir.exists() {
        findings.extend(folder(&data_dir));
        let lock = lock(&data_dir).await;
        // The rest would wait for a program that does not answer.
        usable = lock.result == "ok";
        findings.push(lock);
    }
    if usable {
        match session::call(global, "doctor.run", &Nothing {}).await.and_then(|found| view("doctor.run", found)) {
            Ok(found) => findings.extend::<Vec<Finding>>(found),
            Err(fault) => findings.push(Finding::fail("database", "", &fault)),
        }
    }
    if global.json {
        out::json(&json!(findings))?;
    } else {
        for finding in &findings {
            out::line(&sentence(finding))?;
        }
    }
    if findings.iter().any(|finding| finding.result == "fail") { Err(Failure::Found) } else { Ok(()) }
}

fn sentence(finding: &Finding) -> String {
    let what = finding.check.replace('_', " ");
    let about = if finding.about.is_empty() { String::new() } else { format!(" {}", finding.about) };
    format!("{:<4}  {}", finding.result, words::one_line(&format!("{what}{about}: {}", finding.detail)))
}

/// Whether the folder is free, or used by a program that answers.
async fn lock(data_dir: &Path) -> Finding {
    let ok = |detail: &str| Finding {
        check: "data_folder".to_owned(),
        about: "lock".to_owned(),
        result: "ok".to_owned(),
        detail: detail.to_owned(),
    };
    if let Some(mut client) = running(data_dir).await {
        // The system takes a connection for a program that hangs, too.
        let asked = client.call("status.get", json!({}));
        if tokio::time::timeout(ANSWER_WAIT, asked).await.is_ok_and(|said| said.is_ok()) {
            return ok("Ringonce is running and answers");
        }
    }
    match DataLock::try_take(data_dir) {
        Ok(Taken::Ours(_)) => ok("free: Ringonce is not running"),
        Ok(Taken::Held(holder)) => {
            let fault = Fault::new(
                FaultCode::Busy,
                "Commands may have to wait",
                format!("process {} uses the folder and does not answer", holder.pid),
                "try again in a moment; if it stays so, end that process",
            );
            Finding::fail("data_folder", "lock", &fault)
        }
        Err(fault) => Finding::fail("data_folder", "lock", &fault),
    }
}
