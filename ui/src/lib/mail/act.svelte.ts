/** An act of the owner on its way: at most one at a time, with what refused it. */
import { asFault, type Fault } from '$lib/api/fault';

export class Act {
  busy = $state<string | undefined>();
  fault = $state.raw<Fault | undefined>();

  /** Runs it unless something runs; tells whether it went well. */
  async run(name: string, work: () => Promise<unknown>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = name;
    this.fault = undefined;
    try {
      await work();
      return true;
    } catch (error) {
      this.fault = asFault(error);
      return false;
    } finally {
      this.busy = undefined;
    }
  }
}
