/** Why a call was refused. Only `code` may be looked at; the sentences are shown as details. */
import type { FaultCode, WireFault } from './types';

export class Fault extends Error {
  readonly code: FaultCode;
  readonly consequence: string;
  readonly cause_: string;
  readonly nextStep: string;

  constructor(wire: WireFault) {
    super(`${wire.consequence}: ${wire.cause}; ${wire.next_step}`);
    this.name = 'Fault';
    this.code = wire.code;
    this.consequence = wire.consequence;
    this.cause_ = wire.cause;
    this.nextStep = wire.next_step;
  }
}

const isWire = (error: unknown): error is WireFault =>
  typeof error === 'object' && error !== null && 'code' in error && 'cause' in error && 'consequence' in error;

/** Whatever was thrown, as a fault. */
export function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (isWire(error)) return new Fault(error);
  return new Fault({
    code: 'internal',
    consequence: 'The program did not answer',
    cause: String(error),
    next_step: 'try again',
  });
}
