/** The pages that set: mailboxes, destinations, rules, settings. */
import type { DestinationView, DraftRule, MailboxView, ServerView, TryRow } from '../types';
import { past } from './clock';
import type { Handlers } from './methods';
import * as rest from './rest';
import { fault, type World } from './world';

/** The password that the servers of the fake refuse. */
export const WRONG_PASSWORD = 'wrong';
/** Anything with this word in it fails the test of a destination. */
export const UNREACHABLE = 'unreachable';

const clean = <T extends object>(given: T): T =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as T;

function checkPassword(password: string | undefined): void {
  if (password === WRONG_PASSWORD) throw fault('sign_in', 'the server refused the password');
}
function checkReach(fields: Record<string, string> | undefined): void {
  if (Object.values(fields ?? {}).some((value) => value.includes(UNREACHABLE))) {
    throw fault('test_failed', 'the server could not be reached: no address for this name');
  }
}

const domainOf = (email: string): string => email.split('@')[1] ?? '';
const placeOf = (email: string): ServerView =>
  rest.providers[domainOf(email)]?.sign_in === 'bridge'
    ? { host: '127.0.0.1', port: 1143, tls: 'starttls', username: email }
    : { host: `imap.${domainOf(email)}`, port: 993, tls: 'implicit', username: email };

/** What the rules of the fake would do: the first whose one word is in sender or subject. */
function tryOn(world: World, rules: DraftRule[], last: number): TryRow[] {
  if (world.count === 0) return [];
  return Array.from({ length: last }, (_, number) => {
    const row = world.mail(number);
    const text = `${row.from} ${row.from_name} ${row.subject}`.toLowerCase();
    const found = rules.find((rule) => {
      const words = rule.conditions.map((condition) => /"(.*)"/.exec(condition)?.[1]?.toLowerCase() ?? '');
      return (
        (!rule.mailbox || row.mailbox_id === world.need(world.mailboxes, rule.mailbox).mailbox_id) &&
        words.every((word) => text.includes(word))
      );
    });
    const was = row.decision ?? 'notify';
    return {
      message_key: row.message_key,
      from: row.from,
      from_name: row.from_name ?? null,
      subject: row.subject,
      at: row.first_seen_at,
      decision: found ? (found.silent === null ? 'notify' : 'silent') : was,
      reason: found ? 'a rule' : 'everything else',
      rule_id: found?.id ?? null,
      was,
    };
  });
}

export const setting: Handlers = {
  'mailbox.list': (world) => world.mailboxes,
  'mailbox.presets': (_, { email }) => {
    const provider = rest.providers[domainOf(email)] ?? null;
    return { provider, servers: [placeOf(email)] };
  },
  'mailbox.probe': (_, { email, server }) => {
    const found = { ...placeOf(email), ...clean(server ?? {}) };
    const { host, port, tls, username } = found;
    if (!host || host.includes('nowhere')) throw fault('unreachable', `no address for ${host}`);
    const pin = host === '127.0.0.1' && !server?.pin ? 'a0'.repeat(32) : null;
    const certificate_until = tls === 'none' ? null : '2027-03-02T00:00:00.000Z';
    return { server: { host, port, tls, username }, millis: 84, certificate_until, pin, idle: true };
  },
  'mailbox.folders': (_, { password }) => {
    checkPassword(password);
    return rest.folders;
  },
  'mailbox.add': (world, given) => {
    checkPassword(given.password);
    if (world.mailboxes.some((one) => one.email === given.email)) throw fault('conflict', 'it is there already');
    const id = world.id('mb');
    const made: MailboxView = {
      id,
      mailbox_id: given.email.toLowerCase(),
      email: given.email,
      state: 'watching',
      method: 'idle',
      last_check_at: past(0),
      last_mail_at: null,
      error: null,
      host: given.server?.host ?? null,
      port: given.server?.port ?? 993,
      tls: given.server?.tls ?? 'implicit',
      username: given.server?.username ?? given.email,
      folders: given.folders?.length ? given.folders : ['INBOX'],
      link_template: given.link_template || null,
      ca_file: given.server?.ca_file || null,
      pin: given.server?.pin || null,
      allow_plaintext: given.server?.allow_plaintext ?? false,
      demo: false,
    };
    world.mailboxes = [...world.mailboxes, made];
    world.changed(['mailboxes', 'status']);
    return { id };
  },
  'mailbox.set': (world, { id, password, server, folders, link_template }) => {
    checkPassword(password);
    const now = world.need(world.mailboxes, id);
    const { host, port, tls, username, ca_file, pin } = server ?? {};
    const next: MailboxView = {
      ...now,
      ...(clean({ host, port, tls, username }) as Partial<MailboxView>),
      ca_file: ca_file || null,
      pin: pin || null,
      ...(folders?.length ? { folders } : {}),
      ...(link_template === undefined ? {} : { link_template: link_template || null }),
      ...(password ? { state: 'watching', method: 'idle', error: null, last_check_at: past(0) } : {}),
    };
    world.mailboxes = world.mailboxes.map((one) => (one.id === id ? next : one));
    world.changed(['mailboxes', 'status']);
    return {};
  },
  'mailbox.test': (world, { id }) => {
    if (world.need(world.mailboxes, id).state === 'sign_in') throw fault('sign_in', 'the server refused the password');
    return {};
  },
  'mailbox.pause': (world, { id }) => setState(world, id, 'paused'),
  'mailbox.resume': (world, { id }) => setState(world, id, 'watching'),
  'mailbox.removal': (world, { id }) => {
    world.need(world.mailboxes, id);
    return { waiting: 2, held: 0, sources: 1, rules: 0, routes: [] };
  },
  'mailbox.remove': (world, { id }) => {
    world.need(world.mailboxes, id);
    world.mailboxes = world.mailboxes.filter((one) => one.id !== id);
    world.changed(['mailboxes', 'status']);
    return {};
  },

  'destination.list': (world) => world.destinations,
  'destination.kinds': () => rest.kinds,
  'destination.try': (_, { fields }) => {
    checkReach(fields);
    return { external_message_id: 'hK2vTq', millis: 310 };
  },
  'destination.add': (world, given) => {
    if (given.test) checkReach(given.fields);
    const id = world.id('ds');
    const made: DestinationView = {
      id,
      name: given.name,
      kind: given.kind,
      state: 'ready',
      last_delivery_at: null,
      error: null,
      recipient: `${given.kind}:${given.name}`,
      policy: given.policy ?? 'never-twice',
      privacy: given.privacy ?? 'full',
      max_age_seconds: null,
      fallback_only: given.fallback_only ?? false,
      fields: given.fields ?? {},
    };
    world.destinations = [...world.destinations, made];
    world.changed(['destinations', 'status', 'rules']);
    return { id };
  },
  'destination.set': (world, { id, name, fields, policy, privacy, fallback_only }) => {
    const now = world.need(world.destinations, id);
    const next = {
      ...now,
      ...clean({ name, policy, privacy, fallback_only }),
      fields: { ...now.fields, ...fields },
    } as DestinationView;
    world.destinations = world.destinations.map((one) =>
      one.id === id ? { ...next, state: 'ready', error: null } : one,
    );
    world.changed(['destinations', 'status']);
    return {};
  },
  'destination.test': (world, { id }) => {
    const found = world.need(world.destinations, id);
    if (found.error?.code === 'authentication_error') throw fault('test_failed', found.error.detail);
    return {};
  },
  'destination.pause': (world, { id }) => setPlace(world, id, 'paused'),
  'destination.resume': (world, { id }) => setPlace(world, id, 'ready'),
  'destination.removal': (world, { id }) => {
    world.need(world.destinations, id);
    const routes = world.routes.filter((route) => route.to === id).map((route) => route.name);
    return { waiting: 1, held: 0, sources: 0, rules: 0, routes };
  },
  'destination.remove': (world, { id }) => {
    world.need(world.destinations, id);
    if (world.routes.some((route) => route.to === id)) throw fault('conflict', 'a rule tells by it');
    world.destinations = world.destinations.filter((one) => one.id !== id);
    world.changed(['destinations', 'status']);
    return {};
  },

  'route.list': (world) => world.routes,
  'route.add': (world, { name, to, fallbacks }) => {
    const id = world.id('rt');
    world.routes = [...world.routes, { id, name, to, fallbacks: fallbacks ?? [] }];
    world.changed(['routes']);
    return { id };
  },
  'rule.list': (world) => world.rules,
  'rule.add': (world, { mailbox, conditions, routes, silent }) => {
    const id = world.id('r');
    const made = {
      id,
      mailbox: mailbox ?? null,
      conditions: conditions ?? [],
      routes: routes ?? [],
      silent: silent ?? null,
      off: false,
    };
    world.rules = [...world.rules, made];
    world.changed(['rules']);
    return { id };
  },
  'rule.set': (world, draft) => {
    world.need(world.rules, draft.id);
    world.rules = world.rules.map((rule) => (rule.id === draft.id ? { ...rule, ...draft } : rule));
    world.changed(['rules']);
    return {};
  },
  'rule.switch': (world, { id, off }) => {
    world.need(world.rules, id);
    world.rules = world.rules.map((rule) => (rule.id === id ? { ...rule, off } : rule));
    world.changed(['rules']);
    return {};
  },
  'rule.move': (world, { id, before }) => {
    const moved = world.need(world.rules, id);
    const others = world.rules.filter((rule) => rule.id !== id);
    const at = before ? others.findIndex((rule) => rule.id === before) : others.length;
    world.rules = [...others.slice(0, at), moved, ...others.slice(at)];
    world.changed(['rules']);
    return {};
  },
  'rule.remove': (world, { id }) => {
    world.need(world.rules, id);
    world.rules = world.rules.filter((rule) => rule.id !== id);
    world.changed(['rules']);
    return {};
  },
  'rule.try': (world, { last }) =>
    tryOn(
      world,
      world.rules.filter((rule) => !rule.off),
      last,
    ),
  'rule.try_draft': (world, { last, rules }) => tryOn(world, rules, last),

  'settings.list': (world) => world.settings,
  'settings.set': (world, { key, value }) => {
    const now = world.settings.find((one) => one.key === key);
    if (!now) throw fault('not_found', `there is no setting ${key}`);
    const next = { ...now, value };
    world.settings = world.settings.map((one) => (one.key === key ? next : one));
    world.changed(['settings']);
    return next;
  },
  'demo.start': (world) => {
    world.startDemo();
    world.changed(['mailboxes', 'status', 'history']);
    return {};
  },
  'demo.stop': (world) => {
    world.endDemo();
    world.changed(['mailboxes', 'status', 'history']);
    return {};
  },
  'data.export': () => ({ path: '/home/mira/ringonce-2026-05-14.zip' }),
  'data.report': () => ({ path: '/home/mira/ringonce-report.txt' }),
  'app.about': () => ({
    version: '0.1.0',
    data_dir: '/home/mira/.local/share/ringonce',
    schema: 4,
    secrets: 'keyring',
  }),
};

function setState(world: World, id: string, state: MailboxView['state']) {
  world.need(world.mailboxes, id);
  world.mailboxes = world.mailboxes.map((one) => (one.id === id ? { ...one, state } : one));
  world.changed(['mailboxes', 'status']);
  return {};
}
function setPlace(world: World, id: string, state: DestinationView['state']) {
  world.need(world.destinations, id);
  world.destinations = world.destinations.map((one) => (one.id === id ? { ...one, state } : one));
  world.changed(['destinations', 'status', 'attention']);
  return {};
}
