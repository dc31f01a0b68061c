/** A request to rejoin the worker group. */
export interface Rejoin {
  readonly reason: string;
  /** Offset after the config record that is the reason. An assignment based on this offset makes the rejoin unnecessary. */
  readonly configOffset?: number;
}

/** Combines two requests: the first reason is reported, and an assignment must be based on both config records. */
export function mergeRejoins(first: Rejoin | undefined, second: Rejoin): Rejoin {
  if (first === undefined) return second;
  const { reason } = first;
  if (first.configOffset === undefined || second.configOffset === undefined) return { reason };
  return { reason, configOffset: Math.max(first.configOffset, second.configOffset) };
}

/** Whether an assignment based on the config topic up to `configOffset` makes the rejoin unnecessary. */
export function isObsolete(rejoin: Rejoin, configOffset: number): boolean {
  return rejoin.configOffset !== undefined && rejoin.configOffset <= configOffset;
}
