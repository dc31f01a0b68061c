/** That the worker group is to be joined again, and why. */
export interface Rejoin {
  readonly reason: string;
  /** After the config record that is the reason: an assignment that knows of it makes the rejoining unnecessary. */
  readonly configOffset?: number;
}

/** Both as one: the first reason is reported, and an assignment must know of both config records. */
export function joinedRejoin(first: Rejoin | undefined, second: Rejoin): Rejoin {
  if (first === undefined) return second;
  const { reason } = first;
  if (first.configOffset === undefined || second.configOffset === undefined) return { reason };
  return { reason, configOffset: Math.max(first.configOffset, second.configOffset) };
}

/** Whether an assignment that was made with the config topic read up to `configOffset` makes the rejoining unnecessary. */
export function isAnswered(rejoin: Rejoin, configOffset: number): boolean {
  return rejoin.configOffset !== undefined && rejoin.configOffset <= configOffset;
}
