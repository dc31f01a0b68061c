/** A result of `sluice doctor`. `fail`: requested work cannot be done; `warn`: it may fail. */
export interface Finding {
  readonly level: 'ok' | 'warn' | 'fail';
  /** The subject in a few words: `max_connections`, `topic connect-configs`. */
  readonly about: string;
  /** How it is, without secrets. */
  readonly message: string;
  /** The command or the setting that fixes it. */
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

/** How far another clock, which was read between two moments of ours, is ahead of ours at least; all in milliseconds. */
export function clockLead(clock: number, askedAt: number, answeredAt: number): number {
  if (clock > answeredAt) return clock - answeredAt;
  return clock < askedAt ? clock - askedAt : 0;
}

/** The finding about a clock that is ahead of ours by this time. */
export function clockFinding(about: string, leadMs: number): Finding {
  if (Math.abs(leadMs) <= CLOCK_DIFFERENCE_MS) return ok(about, 'as here, to within a second');
  const seconds = (Math.abs(leadMs) / 1000).toFixed(1);
  const message = `${seconds} s ${leadMs > 0 ? 'ahead of' : 'behind'} the clock here`;
  return warn(about, message, 'timedatectl set-ntp true, on both machines');
}
