/**
 * Ten big providers: where their IMAP is, and what the owner must do there first. Taken from their own help pages.
 * Others are tried at `imap.DOMAIN`, port 993.
 */
import type { Tls } from '$lib/api/types';

export interface Provider {
  name: string;
  domains: readonly string[];
  host: string;
  /** What mail programs may sign in with. */
  signIn: 'password' | 'app_password' | 'oauth';
  /** IMAP is off until the owner allows it. */
  enableImap?: boolean;
  /** The provider's page where an app password is made, or IMAP is allowed. */
  help: string;
}

export const PROVIDERS: readonly Provider[] = [
  {
    name: 'Gmail',
    domains: ['gmail.com', 'googlemail.com'],
    host: 'imap.gmail.com',
    signIn: 'app_password',
    help: 'https://myaccount.google.com/apppasswords',
  },
  {
    name: 'Outlook',
    domains: ['outlook.com', 'hotmail.com', 'live.com', 'msn.com', 'outlook.de', 'hotmail.co.uk'],
    host: 'outlook.office365.com',
    signIn: 'oauth',
    help: 'https://support.microsoft.com/office',
  },
  {
    name: 'Yahoo',
    domains: ['yahoo.com', 'yahoo.co.uk', 'yahoo.de', 'yahoo.fr', 'ymail.com'],
    host: 'imap.mail.yahoo.com',
    signIn: 'app_password',
    help: 'https://login.yahoo.com/account/security',
  },
  {
    name: 'iCloud',
    domains: ['icloud.com', 'me.com', 'mac.com'],
    host: 'imap.mail.me.com',
    signIn: 'app_password',
    help: 'https://account.apple.com',
  },
  {
    name: 'Fastmail',
    domains: ['fastmail.com', 'fastmail.fm'],
    host: 'imap.fastmail.com',
    signIn: 'app_password',
    help: 'https://app.fastmail.com/settings/security',
  },
  {
    name: 'GMX',
    domains: ['gmx.de', 'gmx.net', 'gmx.at', 'gmx.ch'],
    host: 'imap.gmx.net',
    signIn: 'password',
    enableImap: true,
    help: 'https://hilfe.gmx.net',
  },
  {
    name: 'WEB.DE',
    domains: ['web.de'],
    host: 'imap.web.de',
    signIn: 'password',
    enableImap: true,
    help: 'https://hilfe.web.de',
  },
  {
    name: 'Mail.ru',
    domains: ['mail.ru', 'bk.ru', 'inbox.ru', 'list.ru'],
    host: 'imap.mail.ru',
    signIn: 'app_password',
    help: 'https://account.mail.ru/user/2-step-auth/passwords',
  },
  {
    name: 'Yandex',
    domains: ['yandex.ru', 'yandex.com', 'ya.ru', 'yandex.kz', 'yandex.by'],
    host: 'imap.yandex.com',
    signIn: 'app_password',
    enableImap: true,
    help: 'https://id.yandex.com/security/app-passwords',
  },
  {
    name: 'WP Poczta',
    domains: ['wp.pl'],
    host: 'imap.wp.pl',
    signIn: 'password',
    enableImap: true,
    help: 'https://pomoc.wp.pl',
  },
];

export const domainOf = (email: string): string => email.split('@')[1]?.trim().toLowerCase() ?? '';
export const isEmail = (email: string): boolean => /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(email.trim());
export const providerOf = (email: string): Provider | undefined =>
  PROVIDERS.find((one) => one.domains.includes(domainOf(email)));

export interface Server {
  host: string;
  port: number;
  tls: Tls;
  username: string;
}
export const serverOf = (email: string): Server => ({
  host: providerOf(email)?.host ?? `imap.${domainOf(email)}`,
  port: 993,
  tls: 'implicit',
  username: email.trim(),
});
