//! The texts of the native dialogs.

/// In one language.
pub(crate) struct Words {
    /// Title of the question whether a program may be run.
    pub(crate) run_title: &'static str,
    /// The question; the command line stands below.
    pub(crate) run_question: &'static str,
    /// Allows it.
    pub(crate) run_yes: &'static str,
    /// Does not.
    pub(crate) no: &'static str,
    /// Title of the dialog that asks where the copy goes.
    pub(crate) export_title: &'static str,
    /// Title of the dialog that asks where the report goes.
    pub(crate) report_title: &'static str,
}

const ENGLISH: Words = Words {
    run_title: "Let Ringonce run a program?",
    run_question: "For each new mail Ringonce would run this program as you, with sender and subject of the mail:",
    run_yes: "Allow",
    no: "Cancel",
    export_title: "Save a copy of your data",
    report_title: "Save a problem report",
};

const RUSSIAN: Words = Words {
    run_title: "Разрешить Ringonce запускать программу?",
    run_question: "На каждое новое письмо Ringonce будет запускать от вашего имени эту программу и передавать ей отправителя и тему:",
    run_yes: "Разрешить",
    no: "Отмена",
    export_title: "Сохранить копию данных",
    report_title: "Сохранить отчёт о проблеме",
};

const POLISH: Words = Words {
    run_title: "Czy Ringonce może uruchamiać program?",
    run_question: "Dla każdej nowej wiadomości Ringonce będzie uruchamiać w Twoim imieniu ten program, przekazując mu nadawcę i temat:",
    run_yes: "Zezwól",
    no: "Anuluj",
    export_title: "Zapisz kopię danych",
    report_title: "Zapisz raport o problemie",
};

/// In the language of that name.
pub(crate) fn of(language: &str) -> &'static Words {
    match language {
        "ru" => &RUSSIAN,
        "pl" => &POLISH,
        _ => &ENGLISH,
    }
}
