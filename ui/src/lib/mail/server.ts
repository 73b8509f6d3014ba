/** How a mailbox is read, as a form holds it, and what an address looks like. */
import type { MailboxView, ServerParams, ServerView, Tls } from '$lib/api/types';

export const domainOf = (email: string): string => email.split('@')[1]?.trim().toLowerCase() ?? '';
export const isEmail = (email: string): boolean => /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(email.trim());

export interface Server {
  host: string;
  port: number;
  tls: Tls;
  username: string;
  /** PEM file with the authorities to trust; empty: the system's. */
  ca_file: string;
  /** SHA-256 of the one certificate to trust; empty: none. */
  pin: string;
}
export const NO_SERVER: Server = { host: '', port: 993, tls: 'implicit', username: '', ca_file: '', pin: '' };
export const serverFrom = (found: ServerView): Server => ({ ...NO_SERVER, ...found });
export const serverOf = (stored: MailboxView): Server => ({
  host: stored.host ?? '',
  port: stored.port ?? NO_SERVER.port,
  tls: stored.tls ?? NO_SERVER.tls,
  username: stored.username ?? stored.email,
  ca_file: stored.ca_file ?? '',
  pin: stored.pin ?? '',
});
/** What is not protected is sent so only because the form says it and warns. */
export const paramsOf = (server: Server): ServerParams => ({ ...server, allow_plaintext: server.tls === 'none' });
