/** The one banner: the first that applies, in a fixed order. */
import type { IconName } from '$lib/design/glyphs';
import { link } from '$lib/mail/links';
import type { Status } from '$lib/api/types';
import type { Key, Values } from '$lib/words/words.svelte';

export interface BannerContent {
  tone: 'danger' | 'warn' | 'info';
  icon?: IconName;
  title: Key;
  cause: Key;
  values: Values;
  act?: { label: Key; href?: string; does?: 'resume' | 'check' };
}

/** What stands where the program that watches has ended: the pages show what they last read. */
export const down: BannerContent = {
  tone: 'danger',
  icon: 'offline',
  title: 'banner.down.title',
  cause: 'banner.down.cause',
  values: {},
};

export function banner(status: Status, clock: (at: number) => string): BannerContent | undefined {
  const at = (time: string) => clock(Date.parse(time));
  if (status.keychain_error)
    return {
      tone: 'danger',
      icon: 'lock',
      title: 'banner.keychain.title',
      cause: 'banner.keychain.cause',
      values: {},
      act: { label: 'act.again', does: 'check' },
    };
  const refused = status.mailboxes.find((one) => one.state === 'sign_in');
  if (refused)
    return {
      tone: 'danger',
      icon: 'key',
      title: 'banner.signin.title',
      cause: 'banner.signin.cause',
      values: { mailbox: refused.email },
      act: { label: 'banner.signin.act', href: link('mailboxes', refused.id) },
    };
  if (status.offline_since)
    return {
      tone: 'warn',
      icon: 'offline',
      title: 'banner.offline.title',
      cause: 'banner.offline.cause',
      values: { time: at(status.offline_since) },
      act: { label: 'status.check', does: 'check' },
    };
  const stopped = status.destinations.find((one) => one.state === 'sign_in');
  if (stopped)
    return {
      tone: 'danger',
      title: 'banner.destination.title',
      cause: 'banner.destination.cause',
      values: { destination: stopped.name },
      act: { label: 'banner.destination.act', href: link('destinations', stopped.id) },
    };
  if (status.paused_until)
    return {
      tone: 'info',
      icon: 'pause',
      title: 'banner.paused.title',
      cause: 'banner.paused.cause',
      values: { time: at(status.paused_until) },
      act: { label: 'act.resume', does: 'resume' },
    };
  return undefined;
}
