//! The words of the tray: one table, whole sentences, a column for each language.

use ringonce_engine::words::Language;

/// A sentence in the forms that numbers ask for: one, few, many. `{n}` is the number.
type Counted = [&'static str; 3];

/// Everything the tray says. `{…}` is filled in.
#[derive(PartialEq)]
pub(crate) struct Words {
    language: Language,
    pub(crate) check_now: &'static str,
    pub(crate) pause: &'static str,
    pub(crate) half_an_hour: &'static str,
    pub(crate) an_hour: &'static str,
    pub(crate) until_tomorrow: &'static str,
    pub(crate) resume: &'static str,
    pub(crate) open: &'static str,
    pub(crate) attention: &'static str,
    pub(crate) quit: &'static str,
    pub(crate) no_mailbox: &'static str,
    pub(crate) starting: &'static str,
    pub(crate) watching_some: &'static str,
    pub(crate) last_mail: &'static str,
    pub(crate) no_mail: &'static str,
    pub(crate) paused_until: &'static str,
    pub(crate) no_network: &'static str,
    pub(crate) no_answer: &'static str,
    pub(crate) no_keychain: &'static str,
    pub(crate) sign_in: &'static str,
    pub(crate) destination: &'static str,
    /// A day of the year, as strftime has it.
    pub(crate) day: &'static str,
    watching: Counted,
    needing: Counted,
}

const ENGLISH: Words = Words {
    language: Language::En,
    check_now: "Check now",
    pause: "Pause",
    half_an_hour: "30 minutes",
    an_hour: "1 hour",
    until_tomorrow: "Until tomorrow",
    resume: "Resume",
    open: "Open Ringonce",
    attention: "Needs attention ({n})",
    quit: "Quit",
    no_mailbox: "No mailbox yet.",
    starting: "Starting.",
    watching_some: "Watching {n} of {all} mailboxes.",
    last_mail: "Last mail: {time}.",
    no_mail: "No mail yet.",
    paused_until: "Paused until {time}.",
    no_network: "No network since {time}.",
    no_answer: "No mail server answers.",
    no_keychain: "The passwords cannot be read.",
    sign_in: "Sign in again: {mailbox}.",
    destination: "Not told by {destination}: access is refused.",
    day: "%-d %b",
    watching: ["Watching {n} mailbox.", "Watching {n} mailboxes.", "Watching {n} mailboxes."],
    needing: [
        "{n} notification needs attention.",
        "{n} notifications need attention.",
        "{n} notifications need attention.",
    ],
};

const RUSSIAN: Words = Words {
    language: Language::Ru,
    check_now: "Проверить сейчас",
    pause: "Пауза",
    half_an_hour: "На 30 минут",
    an_hour: "На 1 час",
    until_tomorrow: "До завтра",
    resume: "Продолжить",
    open: "Открыть Ringonce",
    attention: "Требуют внимания ({n})",
    quit: "Выход",
    no_mailbox: "Ящиков ещё нет.",
    starting: "Запуск.",
    watching_some: "Слежу за {n} из {all} ящиков.",
    last_mail: "Последнее письмо: {time}.",
    no_mail: "Писем ещё не было.",
    paused_until: "Пауза до {time}.",
    no_network: "Нет сети с {time}.",
    no_answer: "Почтовые серверы не отвечают.",
    no_keychain: "Пароли не прочитать.",
    sign_in: "Войдите снова: {mailbox}.",
    destination: "{destination} молчит: доступ отклонён.",
    day: "%d.%m",
    watching: ["Слежу за {n} ящиком.", "Слежу за {n} ящиками.", "Слежу за {n} ящиками."],
    needing: [
        "{n} уведомление требует внимания.",
        "{n} уведомления требуют внимания.",
        "{n} уведомлений требуют внимания.",
    ],
};

const POLISH: Words = Words {
    language: Language::Pl,
    check_now: "Sprawdź teraz",
    pause: "Wstrzymaj",
    half_an_hour: "Na 30 minut",
    an_hour: "Na 1 godzinę",
    until_tomorrow: "Do jutra",
    resume: "Wznów",
    open: "Otwórz Ringonce",
    attention: "Wymaga uwagi ({n})",
    quit: "Zakończ",
    no_mailbox: "Nie ma jeszcze skrzynki.",
    starting: "Uruchamianie.",
    watching_some: "Czuwam nad {n} z {all} skrzynek.",
    last_mail: "Ostatnia poczta: {time}.",
    no_mail: "Nie było jeszcze poczty.",
    paused_until: "Wstrzymano do {time}.",
    no_network: "Brak sieci od {time}.",
    no_answer: "Serwery poczty nie odpowiadają.",
    no_keychain: "Nie można odczytać haseł.",
    sign_in: "Zaloguj się ponownie: {mailbox}.",
    destination: "{destination} milczy: odmowa dostępu.",
    day: "%d.%m",
    watching: ["Czuwam nad {n} skrzynką.", "Czuwam nad {n} skrzynkami.", "Czuwam nad {n} skrzynkami."],
    needing: ["{n} powiadomienie wymaga uwagi.", "{n} powiadomienia wymagają uwagi.", "{n} powiadomień wymaga uwagi."],
};

impl Words {
    /// In a language.
    pub(crate) fn of(language: Language) -> &'static Self {
        language.pick(&ENGLISH, &RUSSIAN, &POLISH)
    }

    /// So many mailboxes are watched, all there are.
    pub(crate) fn watching(&self, n: usize) -> String {
        self.counted(self.watching, i64::try_from(n).unwrap_or(i64::MAX))
    }

    /// So many notifications need attention.
    pub(crate) fn needing(&self, n: i64) -> String {
        self.counted(self.needing, n)
    }

    fn counted(&self, [one, few, many]: Counted, n: i64) -> String {
        let sentence = self.language.plural(n.unsigned_abs(), one, few, many);
        fill(sentence, "n", &n.to_string())
    }
}

/// A sentence with one of its `{…}` filled in.
pub(crate) fn fill(sentence: &str, name: &str, value: &str) -> String {
    sentence.replace(&format!("{{{name}}}"), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_forms() {
        let check = |words: &Words, expected: &[(i64, &str)]| {
            for (n, sentence) in expected {
                assert_eq!(words.needing(*n), *sentence, "{n}");
            }
        };
        check(&ENGLISH, &[(1, "1 notification needs attention."), (21, "21 notifications need attention.")]);
        check(
            &RUSSIAN,
            &[
                (1, "1 уведомление требует внимания."),
                (3, "3 уведомления требуют внимания."),
                (5, "5 уведомлений требуют внимания."),
                (11, "11 уведомлений требуют внимания."),
                (21, "21 уведомление требует внимания."),
                (112, "112 уведомлений требуют внимания."),
                (122, "122 уведомления требуют внимания."),
            ],
        );
        check(
            &POLISH,
            &[
                (1, "1 powiadomienie wymaga uwagi."),
                (4, "4 powiadomienia wymagają uwagi."),
                (5, "5 powiadomień wymaga uwagi."),
                (12, "12 powiadomień wymaga uwagi."),
                (21, "21 powiadomień wymaga uwagi."),
                (102, "102 powiadomienia wymagają uwagi."),
            ],
        );
        assert_eq!(RUSSIAN.watching(1), "Слежу за 1 ящиком.");
    }
}
