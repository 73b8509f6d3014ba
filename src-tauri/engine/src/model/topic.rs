//! What a change makes out of date. A front end fetches again what shows these topics; the event carries no data, so
//! nothing can be missed or come in the wrong order.

/// One topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// Health and counts.
    Status,
    /// Mails and what came of them.
    History,
    /// Suppressed repeats.
    Duplicates,
    /// Dead letters and uncertain notifications.
    Attention,
    /// Alarms.
    Alarms,
    /// Mailboxes.
    Mailboxes,
    /// Destinations.
    Destinations,
    /// Sources beside IMAP.
    Sources,
    /// Routes.
    Routes,
    /// Rules.
    Rules,
    /// Settings.
    Settings,
}

impl Topic {
    /// Every topic.
    pub const ALL: [Self; 11] = [
        Self::Status,
        Self::History,
        Self::Duplicates,
        Self::Attention,
        Self::Alarms,
        Self::Mailboxes,
        Self::Destinations,
        Self::Sources,
        Self::Routes,
        Self::Rules,
        Self::Settings,
    ];

    /// As in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::History => "history",
            Self::Duplicates => "duplicates",
            Self::Attention => "attention",
            Self::Alarms => "alarms",
            Self::Mailboxes => "mailboxes",
            Self::Destinations => "destinations",
            Self::Sources => "sources",
            Self::Routes => "routes",
            Self::Rules => "rules",
            Self::Settings => "settings",
        }
    }
}
