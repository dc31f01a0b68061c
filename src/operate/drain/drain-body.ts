import { RequestError } from '../../errors.ts';
import { BOOLEAN, objectOf, TEXT, withMore, type ShapeOf } from '../../json/open-api.ts';
import { validatorOf } from '../../json/validator.ts';

/** The body of `PUT /cluster/workers/{worker}/drain`; it may be missing. */
export const DRAIN_BODY = objectOf({ 'drain?': BOOLEAN });
/** The body of `PUT /cluster/drain`, which the leader sends. */
export const DRAIN_ORDER_BODY = objectOf({ worker: TEXT, drain: BOOLEAN });

/** An order of the leader: to drain a worker, or to end its drain. */
export type DrainOrder = ShapeOf<typeof DRAIN_ORDER_BODY>;

/** Workers of a later version may send more members. */
const isDrain = validatorOf(withMore(DRAIN_BODY));
const isDrainOrder = validatorOf(withMore(DRAIN_ORDER_BODY));

/**
 * Whether to drain: `true` unless the body says otherwise.
 * @throws RequestError 400: the body is invalid
 */
export function parseDrain(text: string): boolean {
  if (text.trim() === '') return true;
  const body = parsed(text);
  if (!isDrain(body)) throw new RequestError(400, 'The body must be {"drain": true} or {"drain": false}.');
  return body.drain ?? true;
}

/** @throws RequestError 400: the body is invalid */
export function parseDrainOrder(text: string): DrainOrder {
  const body = parsed(text);
  if (isDrainOrder(body)) return body;
  throw new RequestError(400, 'The body must be {"worker": "host:port", "drain": true} or with "drain": false.');
}

function parsed(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // The error below describes the expected body.
  }
  throw new RequestError(400, 'The body must be a JSON object, such as {"drain": true}.');
}
