/**
 * The views and parameters of the engine, as they stand in JSON. This file is written by hand to match
 * `engine/src/api`, and is to be replaced by the generated one; nothing else may stand in it.
 */

/** RFC 3339, UTC, milliseconds. */
export type Time = string;

export type Topic =
  | 'status'
  | 'history'
  | 'duplicates'
  | 'attention'
  | 'alarms'
  | 'mailboxes'
  | 'destinations'
  | 'sources'
  | 'routes'
  | 'rules'
  | 'settings';

export type FaultCode =
  | 'not_found'
  | 'invalid'
  | 'conflict'
  | 'unreachable'
  | 'tls'
  | 'sign_in'
  | 'protocol'
  | 'secret'
  | 'busy'
  | 'storage'
  | 'newer'
  | 'test_failed'
  | 'internal';

/** What a call is refused with. */
export interface WireFault {
  code: FaultCode;
  consequence: string;
  cause: string;
  next_step: string;
}

export interface ErrorView {
  code: string;
  detail: string;
}
export interface Id {
  id: string;
}
export type Nothing = Record<string, never>;
export interface Page {
  limit?: number;
  before?: string;
}

export type MailboxState = 'starting' | 'watching' | 'offline' | 'sign_in' | 'failing' | 'paused' | 'stopped';
export type Method = 'idle' | 'poll' | 'push' | 'none';
export interface MailboxStatus {
  id: string;
  mailbox_id: string;
  email: string;
  state: MailboxState;
  method: Method;
  last_check_at: Time | null;
  last_mail_at: Time | null;
  error: ErrorView | null;
}
export type Tls = 'implicit' | 'starttls' | 'none';
export interface MailboxView extends MailboxStatus {
  host: string | null;
  port: number | null;
  tls: Tls | null;
  username: string | null;
  folders: string[];
  ca_file: string | null;
  pin: string | null;
  allow_plaintext: boolean;
}
export interface ServerParams {
  no_imap?: boolean;
  host?: string;
  port?: number;
  tls?: Tls;
  username?: string;
  ca_file?: string;
  pin?: string;
  allow_plaintext?: boolean;
}
export interface MailboxAddParams {
  email: string;
  mailbox_id?: string;
  server?: ServerParams;
  folders?: string[];
  password?: string;
  test: boolean;
}
export interface MailboxSetParams {
  id: string;
  email?: string;
  server?: ServerParams;
  folders?: string[];
  password?: string;
  test: boolean;
}

export type DestinationState = 'ready' | 'failing' | 'paused' | 'sign_in';
export interface DestinationStatus {
  id: string;
  name: string;
  kind: string;
  state: DestinationState;
  last_delivery_at: Time | null;
  error: ErrorView | null;
}
export type Policy = 'never-twice' | 'never-lost';
export type Privacy = 'full' | 'sender' | 'none';
export interface DestinationView extends DestinationStatus {
  recipient: string;
  policy: Policy;
  privacy: Privacy;
  max_age_seconds: number | null;
  fallback_only: boolean;
  fields: Record<string, string>;
}
export interface DestinationAddParams {
  kind: string;
  name: string;
  fields?: Record<string, string>;
  secrets?: Record<string, string>;
  policy?: Policy;
  privacy?: Privacy;
  max_age_seconds?: number;
  fallback_only?: boolean;
  test: boolean;
}
export interface DestinationSetParams extends Partial<Omit<DestinationAddParams, 'kind' | 'test'>> {
  id: string;
  test: boolean;
}
export interface FieldView {
  key: string;
  secret: boolean;
  target: boolean;
  required: boolean;
  default: string | null;
}
export interface KindView {
  kind: string;
  class: 'A' | 'B' | 'C';
  window_seconds: number | null;
  lookup: boolean;
  retract: boolean;
  limits: { title_bytes_max: number; body_bytes_max: number };
  fields: FieldView[];
}

export interface RouteView {
  id: string;
  name: string;
  to: string;
  fallbacks: string[];
}
export interface RouteAddParams {
  name: string;
  to: string;
  fallbacks?: string[];
}
export interface RuleView {
  id: string;
  mailbox: string | null;
  conditions: string[];
  routes: string[];
  silent: string | null;
}
export interface RuleAddParams {
  mailbox?: string;
  conditions?: string[];
  routes?: string[];
  silent?: string;
  before?: string;
}
export interface RuleMoveParams {
  id: string;
  before?: string;
}
export type DecisionWord = 'notify' | 'silent' | 'hold';
export interface TryRow {
  message_key: string;
  from: string | null;
  subject: string | null;
  decision: DecisionWord;
  reason: string;
  rule_id: string | null;
  was: DecisionWord | '';
}

export interface SettingView {
  key: string;
  value: string;
  default: string;
}

export interface Status {
  running: boolean;
  mailboxes: MailboxStatus[];
  destinations: DestinationStatus[];
  pending: number;
  oldest_due_at: Time | null;
  dead: number;
  uncertain: number;
  held: number;
  today: Today;
}
export interface Today {
  sightings: number;
  rings: number;
  silent: number;
  duplicates: number;
}

export type Verdict = 'new' | 'repeat' | 'duplicate' | 'collision' | 'baseline' | 'old';
export type NotificationStatus = 'pending' | 'processing' | 'completed' | 'dead' | 'uncertain' | 'cancelled';
export interface NotificationView {
  dispatch_key: string;
  destination: string;
  recipient: string;
  status: NotificationStatus;
  reason: string | null;
  attempt: number;
  due_at: Time | null;
  completed_at: Time | null;
  external_message_id: string | null;
  last_error: ErrorView | null;
}
export interface HistoryRow {
  message_key: string;
  operation_key: string | null;
  mailbox_id: string;
  from: string | null;
  subject: string | null;
  sent_at: Time | null;
  first_seen_at: Time;
  first_verdict: Verdict;
  decision: DecisionWord | null;
  reason: string | null;
  sightings: number;
  notifications: NotificationView[];
}
export interface DeliveryView {
  delivery_key: string;
  source: string;
  locator: string;
  verdict: Verdict;
  reason: string;
  times_seen: number;
  first_seen_at: Time;
  last_seen_at: Time;
}
export interface IdentityView {
  kind: string;
  value: string;
}
export type Outcome = 'accepted' | 'deferred' | 'rejected' | 'unknown' | 'abandoned';
export interface AttemptView {
  dispatch_key: string;
  attempt: number;
  started_at: Time;
  payload_started_at: Time | null;
  finished_at: Time | null;
  outcome: Outcome | null;
  code: string | null;
  detail: string | null;
}
export interface Explanation extends HistoryRow {
  deliveries: DeliveryView[];
  identities: IdentityView[];
  attempts: AttemptView[];
}

export interface Kept {
  source: string;
  locator: string;
  at: Time;
}
export interface Suppressed {
  source: string;
  locator: string;
  verdict: 'repeat' | 'duplicate';
  reason: string;
  at: Time;
  times_seen: number;
}
export interface DuplicatesRow {
  message_key: string;
  subject: string | null;
  kept: Kept;
  suppressed: Suppressed[];
}

export interface AttentionRow {
  dispatch_key: string;
  message_key: string;
  subject: string | null;
  destination: string;
  status: 'dead' | 'uncertain';
  attempt: number;
  last_error: ErrorView | null;
  since: Time;
}
export interface AlarmRow {
  id: string;
  code: string;
  about: string;
  opened_at: Time;
  cleared_at: Time | null;
  text: string;
}
export interface Settled {
  dispatch_key: string;
  status: NotificationStatus;
}

/** Every method of the engine the window calls: parameters and result. */
export interface Methods {
  'mailbox.add': [MailboxAddParams, Id];
  'mailbox.set': [MailboxSetParams, Nothing];
  'mailbox.test': [Id, Nothing];
  'mailbox.list': [Nothing, MailboxView[]];
  'mailbox.pause': [Id, Nothing];
  'mailbox.resume': [Id, Nothing];
  'mailbox.remove': [Id, Nothing];
  'destination.add': [DestinationAddParams, Id];
  'destination.set': [DestinationSetParams, Nothing];
  'destination.test': [Id, Nothing];
  'destination.remove': [Id, Nothing];
  'destination.list': [Nothing, DestinationView[]];
  'destination.pause': [Id, Nothing];
  'destination.resume': [Id, Nothing];
  'destination.kinds': [Nothing, KindView[]];
  'route.add': [RouteAddParams, Id];
  'route.list': [Nothing, RouteView[]];
  'route.remove': [Id, Nothing];
  'rule.add': [RuleAddParams, Id];
  'rule.list': [Nothing, RuleView[]];
  'rule.move': [RuleMoveParams, Nothing];
  'rule.remove': [Id, Nothing];
  'rule.try': [{ last: number }, TryRow[]];
  'settings.list': [Nothing, SettingView[]];
  'settings.set': [{ key: string; value: string }, SettingView];
  'status.get': [Nothing, Status];
  'history.list': [Page, HistoryRow[]];
  'duplicates.list': [Page, DuplicatesRow[]];
  'attention.list': [Page, AttentionRow[]];
  'alarms.list': [Page, AlarmRow[]];
  'explain.get': [Id, Explanation];
  'notification.retry': [Id, Settled];
  'notification.mark_delivered': [Id, Settled];
  'notification.dismiss': [Id, Settled];
  'notification.redrive': [{ since: Time }, { redriven: number }];
  'notification.notify_again': [{ message_key: string }, { operation_key: string }];
}
