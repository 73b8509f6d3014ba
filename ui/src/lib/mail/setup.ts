/** How far the set-up is: derived from what is stored, never from a flag. */
import type { Status } from '$lib/api/types';

export type StepName = 'mailbox' | 'folders' | 'destinations' | 'test';
export interface Step {
  name: StepName;
  done: boolean;
}

export function stepsOf(status: Pick<Status, 'mailboxes' | 'destinations'>): Step[] {
  // Invented mail is none of the owner's.
  const watched = status.mailboxes.some((one) => !one.demo);
  return [
    { name: 'mailbox', done: watched },
    { name: 'folders', done: watched },
    { name: 'destinations', done: status.destinations.length > 0 },
    { name: 'test', done: status.destinations.some((one) => one.last_delivery_at !== null) },
  ];
}
export const stepsLeft = (steps: Step[]): number => steps.filter((step) => !step.done).length;
