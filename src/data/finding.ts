/** A result of `sluice doctor`. `fail`: requested work cannot be done; `warn`: it may fail. */
export interface Finding {
  readonly level: 'ok' | 'warn' | 'fail';
  /** The subject in a few words: `max_connections`, `topic connect-configs`. */
  readonly about: string;
  /** The state of the subject, without secrets. */
  readonly message: string;
  /** The command or the setting that fixes the problem. */
  readonly remedy?: string | undefined;
}

export function ok(about: string, message: string): Finding {
  return { level: 'ok', about, message };
}

export function warn(about: string, message: string, remedy?: string): Finding {
  return { level: 'warn', about, message, remedy };
}

export function fail(about: string, message: string, remedy?: string): Finding {
  return { level: 'fail', about, message, remedy };
}

const CLOCK_DIFFERENCE_MS = 1000;

/**
 * Returns how far the clock of another machine is ahead of this machine's clock, in milliseconds; negative if it is
 * behind. The real difference can be larger, because it is unknown when the other machine read its clock between
 * `askedAt` and `answeredAt`. `clock` is the time that it reported; the request began at `askedAt`, and the response
 * arrived at `answeredAt`, both by this machine's clock.
 */
export function clockLead(clock: number, askedAt: number, answeredAt: number): number {
  if (clock > answeredAt) return clock - answeredAt;
  return clock < askedAt ? clock - askedAt : 0;
}

/**
 * Returns the finding about another machine's clock that is ahead of this machine's by `leadMs`, or behind if negative.
 */
export function clockFinding(about: string, leadMs: number): Finding {
  if (Math.abs(leadMs) <= CLOCK_DIFFERENCE_MS) return ok(about, 'matches the clock here to within a second');
  const seconds = (Math.abs(leadMs) / 1000).toFixed(1);
  const message = `${seconds} s ${leadMs > 0 ? 'ahead of' : 'behind'} the clock here`;
  return warn(about, message, 'timedatectl set-ntp true, on both machines');
}
