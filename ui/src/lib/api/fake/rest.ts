/** Everything invented beside the mail: mailboxes, destinations, kinds, rules, settings, folders. */
import type {
  ActionView,
  DayFigures,
  DestinationView,
  FolderView,
  KindView,
  MailboxView,
  ProviderView,
  RouteView,
  RuleView,
  SettingView,
  ToDo,
  Today,
} from '../types';
import { keyOf, MINUTE, past, SECOND, time, today } from './clock';
import { CLUB, DEMO, details, HOME, WORK } from './mails';

const box = (id: string, email: string, more: Partial<MailboxView>): MailboxView => ({
  id,
  mailbox_id: email,
  email,
  state: 'watching',
  method: 'idle',
  last_check_at: past(12 * SECOND),
  last_mail_at: past(32 * MINUTE),
  error: null,
  host: `imap.${email.split('@')[1]}`,
  port: 993,
  tls: 'implicit',
  username: email,
  folders: ['INBOX'],
  link_template: null,
  ca_file: null,
  pin: null,
  allow_plaintext: false,
  demo: false,
  ...more,
});
export const mailboxes = (): MailboxView[] => [
  box('mbwork00', WORK, {
    folders: ['INBOX', 'Clients', 'Invoices'],
    link_template: 'https://mail.example.com/#search/rfc822msgid:{message_id}',
  }),
  box('mbhome00', HOME, { last_check_at: past(40 * SECOND), last_mail_at: past(4 * MINUTE) }),
  box('mbclub00', CLUB, {
    method: 'poll',
    folders: ['INBOX', 'List copies', 'Archive'],
    last_check_at: past(2 * MINUTE),
    last_mail_at: past(69 * MINUTE),
  }),
];
/** What the owner had done to the mails made by hand. */
export const actions = (): Map<string, ActionView[]> =>
  new Map([
    [
      keyOf('m', 2),
      [
        {
          action: 'mark_read',
          started_at: time(today('13:58:30')),
          finished_at: time(today('13:58:31')),
          outcome: 'failed',
          error: {
            code: 'sign_in',
            detail: 'The server refused the login: AUTHENTICATIONFAILED; enter the password again',
          },
        },
        {
          action: 'mark_read',
          started_at: time(today('14:02:10')),
          finished_at: time(today('14:02:11')),
          outcome: 'done',
          error: null,
        },
      ],
    ],
  ]);
export const demoMailbox = (): MailboxView =>
  box('mbdemo00', 'demo@example.com', {
    mailbox_id: DEMO,
    method: 'push',
    host: null,
    port: null,
    tls: null,
    username: null,
    folders: [],
    demo: true,
  });
export const troubledMailbox = (): MailboxView =>
  box('mbchoir0', 'mira@choir.example.net', {
    state: 'sign_in',
    method: 'none',
    last_check_at: time(today('09:12:00')),
    last_mail_at: null,
    error: { code: 'sign_in', detail: 'The server refused the login: AUTHENTICATIONFAILED; enter the password again' },
  });

const place = (id: string, name: string, kind: string, more: Partial<DestinationView>): DestinationView => ({
  id,
  name,
  kind,
  state: 'ready',
  last_delivery_at: time(today('14:28:04')),
  error: null,
  recipient: `${kind}:${id}`,
  policy: 'never-twice',
  privacy: 'full',
  max_age_seconds: null,
  fallback_only: false,
  fields: {},
  ...more,
});
export const destinations = (): DestinationView[] => [
  place('dsdesk00', 'This computer', 'desktop', {}),
  place('dsphone0', 'Phone', 'ntfy', {
    state: 'failing',
    privacy: 'sender',
    fields: { server: 'https://ntfy.example.org', topic: 'ringonce-7f3a9c41d2', priority: '3' },
    error: { code: 'temporary_unavailable', detail: details['temporary_unavailable'] ?? '' },
  }),
  place('dsroom00', 'Board room', 'matrix', {
    last_delivery_at: time(today('13:22:41')),
    fields: { server: 'https://matrix.example.org', room_id: '#board:example.org' },
  }),
  place('dscall00', 'On call', 'telegram', {
    fallback_only: true,
    privacy: 'none',
    last_delivery_at: '2026-05-11T23:48:00.000Z',
    fields: { server: 'https://api.telegram.example', chat_id: '4021' },
    error: { code: 'authentication_error', detail: details['authentication_error'] ?? '' },
  }),
  place('dshook00', 'Evening list', 'webhook', {
    state: 'paused',
    privacy: 'sender',
    last_delivery_at: '2026-05-12T18:00:00.000Z',
    fields: { url: 'https://hooks.example.org/ring', receiver_deduplicates: 'true' },
  }),
];
export const byDestination: Record<string, ToDo> = {
  dsphone0: { dead: 0, uncertain: 0, pending: 1, retry_at: time(today('14:35:00')), attempt: 2 },
  dsroom00: { dead: 0, uncertain: 1, pending: 0, retry_at: null, attempt: 0 },
  dscall00: { dead: 2, uncertain: 0, pending: 0, retry_at: null, attempt: 0 },
};

type Field = KindView['fields'][number];
const field = (key: string, more: Partial<Field> = {}): Field => ({
  key,
  secret: false,
  target: false,
  required: false,
  default: null,
  form: { kind: 'text' },
  ...more,
});
const kind = (id: string, letter: KindView['class'], lookup: boolean, fields: Field[]): KindView => ({
  kind: id,
  class: letter,
  window_seconds: letter === 'A' ? 86_400 : null,
  lookup,
  retract: id === 'desktop' || id === 'matrix',
  limits: { title_bytes_max: 250, body_bytes_max: 4096 },
  fields,
});
const url = { kind: 'url' } as const;
export const kinds: KindView[] = [
  kind('desktop', 'A', false, []),
  kind('ntfy', 'B', true, [
    field('server', { target: true, default: 'https://ntfy.sh', form: url }),
    field('topic', { target: true, required: true }),
    field('priority', { default: '3', form: { kind: 'number', min: 1, max: 5 } }),
    field('token', { secret: true }),
  ]),
  kind('telegram', 'C', false, [
    field('server', { target: true, default: 'https://api.telegram.org', form: url }),
    field('chat_id', { target: true, required: true }),
    field('bot_token', { secret: true, required: true }),
  ]),
  kind('matrix', 'A', true, [
    field('server', { target: true, required: true, form: url }),
    field('room_id', { target: true, required: true }),
    field('access_token', { secret: true, required: true }),
  ]),
  kind('gotify', 'B', true, [
    field('server', { target: true, required: true, form: url }),
    field('app_token', { secret: true, required: true }),
    field('client_token', { secret: true }),
  ]),
  kind('webhook', 'C', false, [
    field('url', { target: true, required: true, form: url }),
    field('receiver_deduplicates', { default: 'false', form: { kind: 'bool' } }),
    field('secret', { secret: true }),
  ]),
  kind('command', 'C', false, [
    field('command', { target: true, required: true }),
    field('time_limit_seconds', { default: '10', form: { kind: 'number', min: 1, max: 120 } }),
  ]),
];

export const routes = (): RouteView[] => [
  { id: 'rtboth00', name: 'Both', to: 'dsdesk00', fallbacks: [] },
  { id: 'rtphone0', name: 'Phone', to: 'dsphone0', fallbacks: ['dscall00'] },
  { id: 'rtroom00', name: 'Room', to: 'dsroom00', fallbacks: [] },
];
export const rules = (): RuleView[] => [
  {
    id: 'r1',
    mailbox: null,
    conditions: ['from contains "harbourbank.example.com"'],
    routes: ['rtboth00', 'rtphone0'],
    silent: null,
    off: false,
  },
  { id: 'r3', mailbox: null, conditions: ['list-id contains "news"'], routes: [], silent: 'newsletter', off: false },
  { id: 'r4', mailbox: 'mbclub00', conditions: [], routes: ['rtroom00'], silent: null, off: false },
  {
    id: 'r5',
    mailbox: null,
    conditions: ['subject contains "[nightly]"', 'from not is "build@ci.example.com"'],
    routes: ['rtphone0'],
    silent: null,
    off: true,
  },
];

const setting = (key: string, value: string): SettingView => ({ key, value, default: value });
export const settings = (): SettingView[] => [
  setting('processing.max_attempts', '4'),
  setting('imap.poll_seconds', '600'),
  setting('imap.dead_line_seconds', '300'),
  setting('retention.history_days', '90'),
  setting('retention.key_days', '400'),
  setting('cancel_when_read', 'false'),
  setting('ui.language', 'system'),
  setting('ui.theme', 'system'),
  setting('ui.start_at_login', 'true'),
  setting('ui.told_of_closing', 'false'),
  setting('ui.told_of_no_tray', 'false'),
  setting('desktop.sound', 'true'),
  setting('desktop.respect_do_not_disturb', 'true'),
];

export const figures: Today = { sightings: 116, rings: 18, silent: 28, duplicates: 69 };
const chart = [
  [71, 12],
  [88, 17],
  [76, 15],
  [97, 19],
  [92, 21],
  [34, 6],
  [28, 4],
  [83, 18],
  [104, 20],
  [91, 16],
  [110, 22],
  [95, 19],
  [39, 7],
  [116, 18],
] as const;
export const days: DayFigures[] = chart.map(([sightings, rings], index) => ({
  day: `2026-05-${String(index + 1).padStart(2, '0')}`,
  sightings,
  rings,
  duplicates: Math.round(sightings * 0.6),
}));

const folder = (name: string, special: FolderView['special'], messages: number): FolderView => ({
  name,
  label: name,
  special,
  messages,
});
const provider = (id: string, name: string, sign_in: ProviderView['sign_in'], enable_imap: boolean): ProviderView => ({
  id,
  name,
  sign_in,
  enable_imap,
  help: `https://help.example.com/${id}`,
});
/** One of each way to sign in. */
export const providers: Record<string, ProviderView> = {
  'gmail.com': provider('gmail', 'Gmail', 'app_password', false),
  'outlook.com': provider('outlook', 'Outlook', 'oauth', false),
  'web.de': provider('web.de', 'WEB.DE', 'password', true),
  'proton.me': provider('proton', 'Proton Mail', 'bridge', false),
};
export const folders: FolderView[] = [
  folder('INBOX', 'inbox', 12_408),
  folder('Clients', null, 1930),
  folder('Clients/Harbour project', null, 412),
  folder('Invoices', null, 388),
  folder('Lists', null, 8071),
  folder('Archive', 'archive', 20_114),
  folder('Sent', 'sent', 5560),
  folder('Spam', 'junk', 97),
];
