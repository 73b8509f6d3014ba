/** Which page stands at which address. */
import type { Component } from 'svelte';
import type { PageName } from '$lib/mail/links';
import Attention from '$pages/attention/Attention.svelte';
import Destinations from '$pages/destinations/Destinations.svelte';
import Duplicates from '$pages/duplicates/Duplicates.svelte';
import General from '$pages/general/General.svelte';
import History from '$pages/history/History.svelte';
import Mailboxes from '$pages/mailboxes/Mailboxes.svelte';
import Rules from '$pages/rules/Rules.svelte';
import Setup from '$pages/setup/Setup.svelte';
import Status from '$pages/status/Status.svelte';

export interface PageProps {
  /** The address behind the page's name. */
  rest: string[];
  showHelp: () => void;
}
/** For pages that read nothing of their address. */
const plain = (page: Component<Record<string, never>>) => page as unknown as Component<PageProps>;

export const pages: Record<PageName, Component<PageProps>> = {
  status: plain(Status),
  history: History,
  duplicates: plain(Duplicates),
  attention: plain(Attention),
  mailboxes: Mailboxes,
  destinations: Destinations,
  rules: Rules,
  general: General,
  setup: Setup,
};
