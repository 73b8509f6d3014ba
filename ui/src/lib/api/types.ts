/**
 * What the engine and the window say to each other. Generated from the engine's `api` by `cargo xtask types`; change
 * it there.
 */

/** What `app.about` gives. */
export type About = {
  /** Of the resident program. */
  version: string,
  /** Where its data is. */
  data_dir: string,
  /** The version of the data's form. */
  schema: number,
  /** Where passwords are kept: `keyring`, `file:PATH` or `memory`. */
  secrets: string,
};

/** Something the owner had done to a mail. */
export type ActionView = {
  /** `mark_read`. */
  action: string,
  /** When it was asked for. */
  started_at: Time,
  /** When it ended. */
  finished_at: Time | null,
  /** `done` or `failed`; null while it is in hand, and where the program ended meanwhile. */
  outcome: string | null,
  /** What went wrong. */
  error: ErrorView | null,
};

/** What `notification.notify_again` did. */
export type Again = {
  /** The new action. */
  operation_key: string,
};

/** Parameters of `notification.notify_again`. */
export type AgainParams = {
  /** The mail. */
  message_key: string,
};

/** A row of `alarms.list`. */
export type AlarmRow = {
  /** Its number; the list pages by it. */
  id: string,
  /** What kind. */
  code: string,
  /** What it is about. */
  about: string,
  /** Since when. */
  opened_at: Time,
  /** Until when; null while it lasts. */
  cleared_at: Time | null,
  /** In words. */
  text: string,
};

/** One try. */
export type AttemptView = {
  /** The notification it was for. */
  dispatch_key: string,
  /** Its number. */
  attempt: number,
  /** When it was written down. */
  started_at: Time,
  /** When the first byte of the message was about to leave. */
  payload_started_at: Time | null,
  /** When it was settled. */
  finished_at: Time | null,
  /** `accepted`, `deferred`, `rejected`, `unknown` or `abandoned`; null while it is in hand. */
  outcome: Outcome | null,
  /** What kind of error. */
  code: string | null,
  /** The error for people. */
  detail: string | null,
};

/** A row of `attention.list`. */
export type AttentionRow = {
  /** The notification. */
  dispatch_key: string,
  /** The mail. */
  message_key: string,
  /** Its author's address. */
  from: string | null,
  /** Its author's name, as its From header has it. */
  from_name: string | null,
  /** Its subject. */
  subject: string | null,
  /** The owner's name for the destination. */
  destination: string,
  /** `dead` or `uncertain`. */
  status: AttentionStatus,
  /** Attempts so far in this round. */
  attempt: number,
  /** What went wrong last. */
  last_error: ErrorView | null,
  /** Since when it stands so. */
  since: Time,
};

/** Where a notification stands that waits for the owner. */
export type AttentionStatus = 'dead' | 'uncertain';

/** What happened on one day. Ringonce's own messages are not counted. */
export type DayFigures = {
  /** The owner's own day, `YYYY-MM-DD`. */
  day: string,
  /** Reports of mails, repeats included. */
  sightings: number,
  /** Mails of which the owner was told. */
  rings: number,
  /** Reports that were repeats or duplicates. */
  duplicates: number,
};

/** What was decided. */
export type DecisionWord = 'notify' | 'silent' | 'hold';

/** What can be done where an answer is lost. */
export type DeliveryClass = 'A' | 'B' | 'C';

/** One report. */
export type DeliveryView = {
  /** Names the event of its source. */
  delivery_key: string,
  /** By which path. */
  source: string,
  /** At which place. */
  locator: string,
  /** What it was found to be. */
  verdict: Verdict,
  /** Why, in words. */
  reason: string,
  /** How often. */
  times_seen: number,
  /** When, first. */
  first_seen_at: Time,
  /** When, last. */
  last_seen_at: Time,
};

/** Parameters of `destination.add`. */
export type DestinationAddParams = {
  /** The channel's id, e.g. `ntfy`. */
  kind: string,
  /** The owner's name for it. */
  name: string,
  /** Fields that are not secret. */
  fields?: { [key in string]: string },
  /** Secret fields. */
  secrets?: { [key in string]: SecretText },
  /** `never-twice` or `never-lost`; by default the channel's. */
  policy?: Policy,
  /** `full` (the default), `sender` or `none`. */
  privacy?: Privacy,
  /** A notification older than this is not sent any more; 0: always. */
  max_age_seconds?: number,
  /** Used only where a route names it. */
  fallback_only?: boolean,
  /** Send a test message before it is kept. */
  test: boolean,
};

/** Parameters of `destination.set`; what is not given stays. */
export type DestinationSetParams = {
  /** Which. */
  id: string,
  /** The owner's name for it. */
  name?: string,
  /** Fields to change; an empty value takes the default again. */
  fields?: { [key in string]: string },
  /** Secret fields to change; an empty one is removed. */
  secrets?: { [key in string]: SecretText },
  /** `never-twice` or `never-lost`. */
  policy?: Policy,
  /** `full`, `sender` or `none`. */
  privacy?: Privacy,
  /** A notification older than this is not sent any more; 0: always. */
  max_age_seconds?: number,
  /** Used only where a route names it. */
  fallback_only?: boolean,
  /** Send a test message before it is kept. */
  test: boolean,
};

/** How a destination is doing. */
export type DestinationState = 'ready' | 'failing' | 'paused' | 'sign_in';

/** How a destination is doing. */
export type DestinationStatus = {
  /** Its id. */
  id: string,
  /** The owner's name for it. */
  name: string,
  /** The channel's id. */
  kind: string,
  /** `ready`, `failing`, `paused` or `sign_in`. */
  state: DestinationState,
  /** When the channel last accepted something. */
  last_delivery_at: Time | null,
  /** What went wrong last, while nothing was accepted since. */
  error: ErrorView | null,
};

/** Parameters of `destination.try`. */
export type DestinationTryParams = {
  /** A stored one, of which only what is given here differs. */
  id?: string,
  /** The channel's id, where it is not stored. */
  kind?: string,
  /** The owner's name for it: it stands in the message. */
  name: string,
  /** Fields that are not secret. */
  fields?: { [key in string]: string },
  /** Secret fields. */
  secrets?: { [key in string]: SecretText },
};

/** A row of `destination.list`: how it is doing, with its settings. */
export type DestinationView = {
  /** The real target, as in keys. */
  recipient: string,
  /** `never-twice` or `never-lost`. */
  policy: Policy,
  /** `full`, `sender` or `none`. */
  privacy: Privacy,
  /** A notification older than this is not sent any more. */
  max_age_seconds: number | null,
  /** Used only where a route names it. */
  fallback_only: boolean,
  /** Fields that are not secret, defaults included. */
  fields: { [key in string]: string },
  /** Its id. */
  id: string,
  /** The owner's name for it. */
  name: string,
  /** The channel's id. */
  kind: string,
  /** `ready`, `failing`, `paused` or `sign_in`. */
  state: DestinationState,
  /** When the channel last accepted something. */
  last_delivery_at: Time | null,
  /** What went wrong last, while nothing was accepted since. */
  error: ErrorView | null,
};

/** A whole rule: parameters of `rule.set`, and what `rule.try_draft` tries. */
export type DraftRule = {
  /** Which. */
  id: string,
  /** Only for this mailbox, by id or address. */
  mailbox: string | null,
  /** `FIELD [not] contains|is|starts|matches "VALUE"`; all must hold. */
  conditions: Array<string>,
  /** Tell by these routes, by id or name; where it is only tried also to destinations. */
  routes: Array<string>,
  /** Tell nobody, for this reason. */
  silent: string | null,
  /** It is not asked; what is not given stays. */
  off?: boolean,
};

/** Parameters of `duplicates.list`; each narrows, what is absent does not. */
export type DuplicatesParams = {
  /** Rows at most; never more than `limits::PAGE_ROWS_MAX`. */
  limit?: number,
  /** The key of the last row of the page before. */
  before?: string,
  /** Each word begins a word of sender or subject; neither case nor accents count. */
  text?: string,
  /** A report was suppressed for this. */
  reason?: RepeatReason,
};

/** A row of `duplicates.list`: a mail that was reported more than once. */
export type DuplicatesRow = {
  /** The mail. */
  message_key: string,
  /** Its author's address. */
  from: string | null,
  /** Its author's name, as its From header has it. */
  from_name: string | null,
  /** Its subject. */
  subject: string | null,
  /** The mail as in the history. */
  row: HistoryRow,
  /** The report that counted. */
  kept: Kept,
  /** The others. */
  suppressed: Array<Suppressed>,
};

/** What `duplicates.summary` gives. */
export type DuplicatesSummary = {
  /** Every day, oldest first; empty, where nothing happened on any. */
  days: Array<DayFigures>,
  /** Suppressed reports of those days, by reason. */
  reasons: Partial<Record<RepeatReason, number>>,
};

/** Parameters of `duplicates.summary`. */
export type DuplicatesSummaryParams = {
  /** So many days, today the last. */
  days: number,
};

/** What went wrong, as code and sentence. */
export type ErrorView = {
  /** Stable word. */
  code: string,
  /** For people; no secrets, no mail content. */
  detail: string,
};

/** What `explain.get` gives. */
export type Explanation = {
  /** Every report of it. */
  deliveries: Array<DeliveryView>,
  /** Every identifier it is known by. */
  identities: Array<IdentityView>,
  /** Every try to tell of it. */
  attempts: Array<AttemptView>,
  /** What the owner had done to it. */
  actions: Array<ActionView>,
  /** What opens it, by the link of its mailbox; null: that has none. */
  link: string | null,
  /** The mail. */
  message_key: string,
  /** The action on it. */
  operation_key: string | null,
  /** Scope of keys. */
  mailbox_id: string,
  /** Its author's address. */
  from: string | null,
  /** Its author's name, as its From header has it. */
  from_name: string | null,
  /** Its subject. */
  subject: string | null,
  /** Its Date header. */
  sent_at: Time | null,
  /** When it was first reported. */
  first_seen_at: Time,
  /** What the first report was found to be. */
  first_verdict: Verdict,
  /** `notify`, `silent` or `hold`. */
  decision: DecisionWord | null,
  /** Why. */
  reason: string | null,
  /** A stable word for `reason`; null where that is a rule's own. */
  reason_code: ReasonCode | null,
  /** The rule that decided; null: a fixed one. */
  rule_id: string | null,
  /** How often it was reported, by all paths. */
  sightings: number,
  /** Whom it was told. */
  notifications: Array<NotificationView>,
};

/** What became of a mail. */
export type Fate = 'told' | 'sending' | 'held' | 'silent' | 'uncertain' | 'dead';

/** The kinds of fault a front end treats differently. */
export type FaultCode = 'not_found' | 'invalid' | 'conflict' | 'unreachable' | 'not_running' | 'tls' | 'sign_in' | 'protocol' | 'secret' | 'busy' | 'storage' | 'newer' | 'test_failed' | 'internal';

/** One field of the form. */
export type FieldView = {
  /** As in `--set KEY=VALUE`. */
  key: string,
  /** It is given with `--secret KEY=-` and never shown. */
  secret: boolean,
  /** It makes the recipient. */
  target: boolean,
  /** Must be given. */
  required: boolean,
  /** Used where it is not given. */
  default: string | null,
  /** What its value looks like. */
  form: { kind: 'url' } | { kind: 'text' } | { kind: 'bool' } | { kind: 'number'; min: number; max: number },
};

/** What was found of one thing. */
export type Finding = {
  /** `data_folder`, `database`, `secrets`, `network`, `mailbox`, `destination` or `clock`. */
  check: string,
  /** Which one, for people. */
  about: string,
  /** `ok`, `warn` or `fail`. */
  result: string,
  /** What was found; unless it is well: consequence, cause and next step. */
  detail: string,
};

/** What a folder is for. */
export type FolderRole = 'inbox' | 'sent' | 'drafts' | 'junk' | 'trash' | 'archive' | 'all' | 'flagged';

/** A folder that can be watched. */
export type FolderView = {
  /** Its name on the wire, as `mailbox.add` takes it. */
  name: string,
  /** For people; levels parted by `/`. */
  label: string,
  /** What it is for; null: nothing special, or the server does not say. */
  special: FolderRole | null,
  /** Mails in it; null: the server did not say in time. */
  messages: number | null,
};

/** Parameters of `mailbox.folders`: a mailbox that is stored, by its id, or one that is not. */
export type FoldersParams = {
  /** Which stored one; what else is given goes over what is stored. */
  id?: string,
  /** The owner's address, where it is not stored. */
  email?: string,
  /** How it is read; by default as its provider says. */
  server?: ServerParams,
  /** The password, where it is not stored or has changed. */
  password?: SecretText,
};

/** Parameters of `history.list`; each narrows, what is absent does not. */
export type HistoryParams = {
  /** Rows at most; never more than `limits::PAGE_ROWS_MAX`. */
  limit?: number,
  /** The key of the last row of the page before. */
  before?: string,
  /** Each word begins a word of sender or subject; neither case nor accents count. */
  text?: string,
  /** Scope of keys of a mailbox (`mailbox_id`). */
  mailbox?: string,
  /** Whom it was told, or is to be told: a destination by id or name, removed ones too. */
  destination?: string,
  /** What became of it. */
  outcome?: Fate,
  /** First seen at or after. */
  since?: Time,
  /** First seen before. */
  until?: Time,
};

/** A row of `history.list`. */
export type HistoryRow = {
  /** The mail. */
  message_key: string,
  /** The action on it. */
  operation_key: string | null,
  /** Scope of keys. */
  mailbox_id: string,
  /** Its author's address. */
  from: string | null,
  /** Its author's name, as its From header has it. */
  from_name: string | null,
  /** Its subject. */
  subject: string | null,
  /** Its Date header. */
  sent_at: Time | null,
  /** When it was first reported. */
  first_seen_at: Time,
  /** What the first report was found to be. */
  first_verdict: Verdict,
  /** `notify`, `silent` or `hold`. */
  decision: DecisionWord | null,
  /** Why. */
  reason: string | null,
  /** A stable word for `reason`; null where that is a rule's own. */
  reason_code: ReasonCode | null,
  /** The rule that decided; null: a fixed one. */
  rule_id: string | null,
  /** How often it was reported, by all paths. */
  sightings: number,
  /** Whom it was told. */
  notifications: Array<NotificationView>,
};

/** Names one thing: an id, or where it is unique the owner's name for it. */
export type Id = {
  /** The id. */
  id: string,
};

/** One identifier. */
export type IdentityView = {
  /** `message_id`, `fingerprint` or the provider's kind. */
  kind: string,
  /** Its value. */
  value: string,
};

/** The report that counted. */
export type Kept = {
  /** By which path. */
  source: string,
  /** At which place. */
  locator: string,
  /** When. */
  at: Time,
};

/** A row of `destination.kinds`. */
export type KindView = {
  /** The channel's id. */
  kind: string,
  /** What can be done where an answer is lost: `A` (it drops repeats), `B` (it can be asked), `C` (neither). */
  class: DeliveryClass,
  /** How long it remembers a key (class A). */
  window_seconds: number | null,
  /** It can be asked what became of a key. */
  lookup: boolean,
  /** A notification can be taken back. */
  retract: boolean,
  /** What a message may measure. */
  limits: LimitsView,
  /** What the owner fills in. */
  fields: Array<FieldView>,
};

/** What a message may measure. */
export type LimitsView = {
  /** Bytes of the title. */
  title_bytes_max: number,
  /** Bytes of the text. */
  body_bytes_max: number,
};

/** Parameters of `mailbox.add`. */
export type MailboxAddParams = {
  /** The owner's address there. */
  email: string,
  /** Scope of keys; by default the address in lower case. */
  mailbox_id?: string,
  /** How it is read. */
  server?: ServerParams,
  /** Folders to watch; by default `INBOX`. */
  folders?: Array<string>,
  /** What a press on a notification opens, with `{message_id}` in it. */
  link_template?: string,
  /** The password. */
  password?: SecretText,
  /** Log in and look at each folder before it is kept. */
  test: boolean,
};

/** Parameters of `mailbox.set`; what is not given stays. */
export type MailboxSetParams = {
  /** Which. */
  id: string,
  /** The owner's address there. */
  email?: string,
  /** Scope of keys: it is fixed, and another than the present one is refused. */
  mailbox_id?: string,
  /** How it is read. */
  server?: ServerParams,
  /** Folders to watch, instead of the present ones; empty: they stay. */
  folders?: Array<string>,
  /** What a press on a notification opens, with `{message_id}` in it; empty: its history. */
  link_template?: string,
  /** The new password. */
  password?: SecretText,
  /** Log in and look at each folder before it is kept. */
  test: boolean,
};

/** How a mailbox or a source is doing; `stopped`: nothing runs. */
export type MailboxState = 'starting' | 'watching' | 'offline' | 'sign_in' | 'failing' | 'paused' | 'stopped';

/** How a mailbox is doing. */
export type MailboxStatus = {
  /** Its account id. */
  id: string,
  /** Scope of keys. */
  mailbox_id: string,
  /** The owner's address there. */
  email: string,
  /** `starting`, `watching`, `offline`, `sign_in`, `failing`, `paused`; `stopped` while nothing runs. */
  state: MailboxState,
  /** `idle`, `poll`, `push` or `none`. */
  method: WatchMethod,
  /** When the last whole check ended. */
  last_check_at: Time | null,
  /** When its last mail was reported. */
  last_mail_at: Time | null,
  /** What is wrong. */
  error: ErrorView | null,
  /** Its mail is invented. */
  demo: boolean,
};

/** A row of `mailbox.list`: how it is doing, with its settings. */
export type MailboxView = {
  /** Host name or address; null without IMAP. */
  host: string | null,
  /** TCP port. */
  port: number | null,
  /** `implicit`, `starttls` or `none`. */
  tls: Tls | null,
  /** Name to log in with. */
  username: string | null,
  /** Wire names of the folders watched. */
  folders: Array<string>,
  /** What a press on a notification opens; null: its history. */
  link_template: string | null,
  /** PEM file with the authorities to trust. */
  ca_file: string | null,
  /** SHA-256 of the one certificate to trust. */
  pin: string | null,
  /** The password may go unprotected to another machine. */
  allow_plaintext: boolean,
  /** Its account id. */
  id: string,
  /** Scope of keys. */
  mailbox_id: string,
  /** The owner's address there. */
  email: string,
  /** `starting`, `watching`, `offline`, `sign_in`, `failing`, `paused`; `stopped` while nothing runs. */
  state: MailboxState,
  /** `idle`, `poll`, `push` or `none`. */
  method: WatchMethod,
  /** When the last whole check ended. */
  last_check_at: Time | null,
  /** When its last mail was reported. */
  last_mail_at: Time | null,
  /** What is wrong. */
  error: ErrorView | null,
  /** Its mail is invented. */
  demo: boolean,
};

/** Parameters of `mail.mark_read`. */
export type MarkReadParams = {
  /** Which mail. */
  message_key: string,
};

/** Nothing to give, or nothing to say. */
export type Nothing = Record<string, never>;

/** Where a notification stands. */
export type NotificationStatus = 'pending' | 'processing' | 'completed' | 'dead' | 'uncertain' | 'cancelled';

/** One notification. */
export type NotificationView = {
  /** Its key. */
  dispatch_key: string,
  /** The owner's name for the destination. */
  destination: string,
  /** The real target. */
  recipient: string,
  /** `pending`, `processing`, `completed`, `dead`, `uncertain` or `cancelled`. */
  status: NotificationStatus,
  /** Why it was given up or cancelled. */
  reason: string | null,
  /** Attempts so far in this round. */
  attempt: number,
  /** When it is to be sent, while it is pending. */
  due_at: Time | null,
  /** When it ended. */
  completed_at: Time | null,
  /** The channel's id of it. */
  external_message_id: string | null,
  /** What went wrong last. */
  last_error: ErrorView | null,
};

/** Parameters of `notification.notify_to`. */
export type NotifyToParams = {
  /** The mail. */
  message_key: string,
  /** Destinations, by id or name. */
  destinations: Array<string>,
};

/** Parameters of `window.open`. */
export type OpenParams = {
  /** Where in the window to go, such as `#/attention`; where it was, without one. */
  place?: string,
};

/** What came of an attempt. */
export type Outcome = 'accepted' | 'deferred' | 'rejected' | 'unknown' | 'abandoned';

/** A page of a list, newest first. */
export type Page = {
  /** Rows at most; never more than `limits::PAGE_ROWS_MAX`. */
  limit?: number,
  /** The key of the last row of the page before. */
  before?: string,
};

/** Parameters of `watch.pause`. */
export type PauseParams = {
  /** For how long; null: until tomorrow at 07:00. */
  minutes: number | null,
};

/** What `watch.pause` gives. */
export type Paused = {
  /** When it ends by itself. */
  until: Time,
};

/** What is worse: told twice, or not told. */
export type Policy = 'never-twice' | 'never-lost';

/** What is known of an address before anything is asked. */
export type Presets = {
  /** Its provider; null where that is none of the big ones. */
  provider: ProviderView | null,
  /** Where its mail may be, the likeliest first. */
  servers: Array<ServerView>,
};

/** Parameters of `mailbox.presets`. */
export type PresetsParams = {
  /** The owner's address. */
  email: string,
};

/** How much of a mail leaves this computer. */
export type Privacy = 'full' | 'sender' | 'none';

/** Parameters of `mailbox.probe`. */
export type ProbeParams = {
  /** The owner's address. */
  email: string,
  /** The server; by default those of `mailbox.presets` in turn. */
  server?: ServerParams,
};

/** A server that answered. */
export type ProbeView = {
  /** Where. */
  server: ServerView,
  /** From the first octet to the greeting, TLS included. */
  millis: number,
  /** The certificate's last moment; null without TLS. */
  certificate_until: Time | null,
  /** SHA-256 of a certificate that nobody vouches for: the server is used only where this is pinned. */
  pin: string | null,
  /** It tells of new mail by itself; false: not said before sign-in. */
  idle: boolean,
};

/** A provider, and what its owner has to do there first. */
export type ProviderView = {
  /** Stable word. */
  id: string,
  /** As people know it. */
  name: string,
  /** What lets a mail program in. */
  sign_in: SignInWay,
  /** IMAP is off until it is switched on in the provider's settings. */
  enable_imap: boolean,
  /** The provider's page about it. */
  help: string,
};

/** A fixed reason. */
export type ReasonCode = 'baseline' | 'old' | 'before_rebuild' | 'unreadable' | 'awaiting_mail' | 'junk' | 'sent' | 'everything_else' | 'no_destination' | 'owner_again' | 'mailbox_removed' | 'test' | 'alarm' | 'demo' | 'demo_silent' | 'catch_up' | 'rebuilt' | 'restored' | 'expired' | 'in_digest';

/** Parameters of `notification.redrive`. */
export type RedriveParams = {
  /** Dead letters since then, RFC 3339. */
  since: Time,
};

/** What `notification.redrive` did. */
export type Redriven = {
  /** Notifications put back. */
  redriven: number,
};

/** What goes with a mailbox or a destination. Its history stays, but for that of the demo. */
export type Removal = {
  /** Notifications that are not delivered and will be cancelled. */
  waiting: number,
  /** Mails that are held back and will not ring. */
  held: number,
  /** Webhooks that report its mail. */
  sources: number,
  /** Rules that name it. */
  rules: number,
  /** Routes that tell by it, by name: they have to be removed first. */
  routes: Array<string>,
};

/** Why a report was suppressed. */
export type RepeatReason = 'push_and_idle' | 'reconnect' | 'other_folder' | 'same_content' | 'same_id';

/** Parameters of `route.add`. */
export type RouteAddParams = {
  /** The owner's name for it. */
  name: string,
  /** The primary destination, by id or name. */
  to: string,
  /** Its fallbacks in order, by id or name. */
  fallbacks?: Array<string>,
};

/** A row of `route.list`. */
export type RouteView = {
  /** Its id. */
  id: string,
  /** The owner's name for it. */
  name: string,
  /** Id of the primary destination. */
  to: string,
  /** Ids of its fallbacks, in order. */
  fallbacks: Array<string>,
};

/** Parameters of `rule.add`. */
export type RuleAddParams = {
  /** Only for this mailbox, by id or address. */
  mailbox?: string,
  /** `FIELD [not] contains|is|starts|matches "VALUE"`; all must hold. */
  conditions?: Array<string>,
  /** Tell by these routes, by id or name. */
  routes?: Array<string>,
  /** Tell nobody, for this reason. */
  silent?: string,
  /** Put it before this rule; else it is the last. */
  before?: string,
};

/** Parameters of `rule.move`. */
export type RuleMoveParams = {
  /** Which. */
  id: string,
  /** Put it before this rule; else it is the last. */
  before?: string,
};

/** Parameters of `rule.switch`. */
export type RuleSwitchParams = {
  /** Which. */
  id: string,
  /** Off, or on again. */
  off: boolean,
};

/** Parameters of `rule.try_draft`. */
export type RuleTryDraftParams = {
  /** On so many of the newest mails. */
  last: number,
  /** The whole list, first asked first. */
  rules: Array<DraftRule>,
};

/** Parameters of `rule.try`. */
export type RuleTryParams = {
  /** On so many of the newest mails. */
  last: number,
};

/** A row of `rule.list`, in the order in which they are asked. */
export type RuleView = {
  /** Its id. */
  id: string,
  /** Account id of the one mailbox it is for. */
  mailbox: string | null,
  /** Conditions in words; all must hold. */
  conditions: Array<string>,
  /** Ids of the routes to tell by. */
  routes: Array<string>,
  /** Why nobody is told; null where somebody is. */
  silent: string | null,
  /** The owner switched it off: it is not asked. */
  off: boolean,
};

/** A secret on its way from a front end: it goes through serde, and does not print. */
export type SecretText = string;

/** What `test.send` gives: what became of it is said by `explain.get`. */
export type SentTest = {
  /** The message. */
  message_key: string,
};

/** How a mailbox is read. What is not given keeps its value, or its default where it is new. */
export type ServerParams = {
  /** It is not read by IMAP: only other sources report its mail. */
  no_imap?: boolean,
  /** Host name or address. */
  host?: string,
  /** TCP port; by default 993 with implicit TLS, else 143. */
  port?: number,
  /** `implicit` (the default), `starttls` or `none`. */
  tls?: Tls,
  /** Name to log in with; by default the e-mail address. */
  username?: string,
  /** PEM file with the authorities to trust instead of the system's; an absolute path. Empty: none any more. */
  ca_file?: string,
  /** SHA-256 of the one certificate to trust. Empty: none any more. */
  pin?: string,
  /** The password may go unprotected to another machine. */
  allow_plaintext?: boolean,
};

/** Where a mailbox is read. */
export type ServerView = {
  /** Host name or address. */
  host: string,
  /** TCP port. */
  port: number,
  /** `implicit`, `starttls` or `none`. */
  tls: Tls,
  /** Name to log in with. */
  username: string,
};

/** Parameters of `settings.get`. */
export type SettingGetParams = {
  /** Which. */
  key: string,
};

/** Parameters of `settings.set`. */
export type SettingSetParams = {
  /** Which. */
  key: string,
  /** The new value; lists are comma-separated. */
  value: string,
};

/** A row of `settings.list`. */
export type SettingView = {
  /** Its key. */
  key: string,
  /** The value in force. */
  value: string,
  /** The value without the owner's. */
  default: string,
};

/** What became of one notification. */
export type Settled = {
  /** Its key. */
  dispatch_key: string,
  /** Where it stands now. */
  status: NotificationStatus,
};

/** What lets a mail program in; `bridge`: what the provider's own program on this computer shows. */
export type SignInWay = 'password' | 'app_password' | 'oauth' | 'bridge';

/** What `status.get` gives. */
export type Status = {
  /** Somebody watches; else this was read from the data folder alone. */
  running: boolean,
  /** A row per mailbox. */
  mailboxes: Array<MailboxStatus>,
  /** A row per destination. */
  destinations: Array<DestinationStatus>,
  /** Notifications to be sent, now or later. */
  pending: number,
  /** When the oldest of those that could be sent now fell due. */
  oldest_due_at: Time | null,
  /** Notifications given up. */
  dead: number,
  /** Notifications of which nobody can say whether they arrived. */
  uncertain: number,
  /** Mails that wait for a time or for the mail itself. */
  held: number,
  /** Alarms that last, newest first. */
  alarms: Array<AlarmRow>,
  /** What happened since midnight, local time. */
  today: Today,
  /** What is to be done for a destination, by its id; those with nothing to do are not there. */
  by_destination: { [key in string]: ToDo },
  /** All watching is paused until then; null: it is not. */
  paused_until: Time | null,
  /** This computer has no network since then; null: it has one, or nothing runs. */
  offline_since: Time | null,
  /** Why secrets cannot be read; null: they can. */
  keychain_error: string | null,
  /** Whether the owner sees a tray icon. */
  tray: TrayState,
};

/** A report that was suppressed. */
export type Suppressed = {
  /** By which path. */
  source: string,
  /** At which place. */
  locator: string,
  /** `repeat` (the same event again) or `duplicate` (the same mail by another path or place). */
  verdict: SuppressedVerdict,
  /** In words. */
  reason: string,
  /** A stable word for that. */
  reason_code: RepeatReason,
  /** When, last. */
  at: Time,
  /** How often. */
  times_seen: number,
};

/** What a suppressed sighting was found to be. */
export type SuppressedVerdict = 'repeat' | 'duplicate';

/** What a test brought. */
export type TestResult = {
  /** The channel's id of the message, where it gives one. */
  external_message_id: string | null,
  /** From the call to its answer. */
  millis: number,
};

/** Parameters of `test.send`. */
export type TestSendParams = {
  /** Only to this one, by id or name; else as the last rule tells a mail. */
  destination?: string,
};

/** RFC 3339, UTC, milliseconds. */
export type Time = string;

/** Protection of an IMAP connection. */
export type Tls = 'implicit' | 'starttls' | 'none';

/** What is to be done for a destination. */
export type ToDo = {
  /** Notifications given up. */
  dead: number,
  /** Notifications of which nobody can say whether they arrived. */
  uncertain: number,
  /** Notifications to be sent, now or later, those in hand too. */
  pending: number,
  /** When the next that has to wait is sent; null: none waits. */
  retry_at: Time | null,
  /** Attempts made of that one. */
  attempt: number,
};

/** What happened since midnight, local time. Ringonce's own messages are not counted. */
export type Today = {
  /** Reports of mails, repeats included. */
  sightings: number,
  /** Mails of which the owner was told. */
  rings: number,
  /** Mails of which nobody was to be told. */
  silent: number,
  /** Reports that were repeats or duplicates. */
  duplicates: number,
};

/** What a change makes out of date. */
export type Topic = 'status' | 'history' | 'duplicates' | 'attention' | 'alarms' | 'mailboxes' | 'destinations' | 'sources' | 'routes' | 'rules' | 'settings';

/** Whether the owner sees a tray icon. */
export type TrayState = 'shown' | 'no_host' | 'none';

/** A row of `rule.try`: what rules would do with a mail. */
export type TryRow = {
  /** The mail. */
  message_key: string,
  /** Its author's address. */
  from: string | null,
  /** Its author's name, as its From header has it. */
  from_name: string | null,
  /** Its subject. */
  subject: string | null,
  /** When it was first reported. */
  at: Time,
  /** `notify`, `silent` or `hold`. */
  decision: DecisionWord,
  /** Why. */
  reason: string,
  /** The rule that decides; null: a fixed one. */
  rule_id: string | null,
  /** What was decided when it came. */
  was: WasDecision,
};

/** What a sighting was found to be. */
export type Verdict = 'new' | 'repeat' | 'duplicate' | 'collision' | 'baseline' | 'old';

/** What was decided when it came; empty: nothing. */
export type WasDecision = 'notify' | 'silent' | 'hold' | '';

/** How a source hears of mail. */
export type WatchMethod = 'idle' | 'poll' | 'push' | 'none';

/** A [`Fault`] on the wire. */
export type WireFault = {
  /** Stable word. */
  code: FaultCode,
  /** What this means for the owner. */
  consequence: string,
  /** Why it happened. */
  cause: string,
  /** What to do next. */
  next_step: string,
};

/** Every method of the engine a window may call: parameters and result. */
export interface Methods {
  'mailbox.add': [MailboxAddParams, Id];
  'mailbox.set': [MailboxSetParams, Nothing];
  'mailbox.test': [Id, Nothing];
  'mailbox.list': [Nothing, Array<MailboxView>];
  'mailbox.pause': [Id, Nothing];
  'mailbox.resume': [Id, Nothing];
  'mailbox.remove': [Id, Nothing];
  'mailbox.presets': [PresetsParams, Presets];
  'mailbox.probe': [ProbeParams, ProbeView];
  'mailbox.folders': [FoldersParams, Array<FolderView>];
  'mailbox.removal': [Id, Removal];
  'destination.add': [DestinationAddParams, Id];
  'destination.set': [DestinationSetParams, Nothing];
  'destination.test': [Id, Nothing];
  'destination.try': [DestinationTryParams, TestResult];
  'destination.remove': [Id, Nothing];
  'destination.removal': [Id, Removal];
  'destination.list': [Nothing, Array<DestinationView>];
  'destination.pause': [Id, Nothing];
  'destination.resume': [Id, Nothing];
  'destination.kinds': [Nothing, Array<KindView>];
  'route.add': [RouteAddParams, Id];
  'route.list': [Nothing, Array<RouteView>];
  'route.remove': [Id, Nothing];
  'rule.add': [RuleAddParams, Id];
  'rule.list': [Nothing, Array<RuleView>];
  'rule.move': [RuleMoveParams, Nothing];
  'rule.remove': [Id, Nothing];
  'rule.set': [DraftRule, Nothing];
  'rule.switch': [RuleSwitchParams, Nothing];
  'rule.try': [RuleTryParams, Array<TryRow>];
  'rule.try_draft': [RuleTryDraftParams, Array<TryRow>];
  'demo.start': [Nothing, Nothing];
  'demo.stop': [Nothing, Nothing];
  'app.about': [Nothing, About];
  'settings.list': [Nothing, Array<SettingView>];
  'settings.get': [SettingGetParams, SettingView];
  'settings.set': [SettingSetParams, SettingView];
  'status.get': [Nothing, Status];
  'history.list': [HistoryParams, Array<HistoryRow>];
  'duplicates.list': [DuplicatesParams, Array<DuplicatesRow>];
  'duplicates.summary': [DuplicatesSummaryParams, DuplicatesSummary];
  'attention.list': [Page, Array<AttentionRow>];
  'alarms.list': [Page, Array<AlarmRow>];
  'explain.get': [Id, Explanation];
  'notification.retry': [Id, Settled];
  'notification.mark_delivered': [Id, Settled];
  'notification.dismiss': [Id, Settled];
  'notification.redrive': [RedriveParams, Redriven];
  'notification.notify_again': [AgainParams, Again];
  'notification.notify_to': [NotifyToParams, Again];
  'test.send': [TestSendParams, SentTest];
  'mail.mark_read': [MarkReadParams, Nothing];
  'watch.check_now': [Nothing, Nothing];
  'watch.pause': [PauseParams, Paused];
  'watch.resume': [Nothing, Nothing];
  'window.open': [OpenParams, Nothing];
  'doctor.run': [Nothing, Array<Finding>];
}
