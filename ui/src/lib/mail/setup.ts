/** How far the set-up is: derived from what is stored, never from a flag. */
import type { Status } from '$lib/api/types';

export type StepName = 'mailbox' | 'folders' | 'destinations' | 'test';
export interface Step {
  name: StepName;
  done: boolean;
}

export function stepsOf(status: Pick<Status, 'mailboxes' | 'destinations'>): Step[] {
  const watched = status.mailboxes.length > 0;
  return [
    { name: 'mailbox', done: watched },
    { name: 'folders', done: watched },
    { name: 'destinations', done: status.destinations.length > 0 },
    { name: 'test', done: status.destinations.some((one) => one.last_delivery_at !== null) },
  ];
}
export const stepsLeft = (steps: Step[]): number => steps.filter((step) => !step.done).length;
