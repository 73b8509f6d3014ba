/** The host in the product: one command `call`, one event `changed`. The only file that knows Tauri. */
import { invoke } from '@tauri-apps/api/core';
import { listen } from '@tauri-apps/api/event';
import type { Host } from './host';
import type { Topic } from './types';

export const tauriHost: Host = {
  call: (method, params) => invoke('call', { method, params }),
  listen: (heard) => listen<{ topics: Topic[] }>('changed', (event) => heard(event.payload.topics)),
  now: () => Date.now(),
};

export const isTauri = (): boolean => '__TAURI_INTERNALS__' in window;
