import { RequestError } from '../../errors.ts';
import type { DrainOrder } from './worker-drains.ts';
import { objectOf, type JsonSchema } from '../../json/open-api.ts';

/** Of `PUT /cluster/workers/{worker}/drain`; it may be missing. */
export const DRAIN_BODY: JsonSchema = objectOf({ 'drain?': { type: 'boolean' } });
/** Of `PUT /cluster/drain`, which the leader sends. */
export const DRAIN_ORDER_BODY: JsonSchema = objectOf({ worker: { type: 'string' }, drain: { type: 'boolean' } });

/** Whether to drain: `true` unless the body says otherwise. Throws a RequestError with 400 for another body. */
export function parseDrain(text: string): boolean {
  if (text.trim() === '') return true;
  const { drain = true } = parsed(text) ?? {};
  if (typeof drain !== 'boolean') throw new RequestError(400, 'The body must be {"drain": true} or {"drain": false}.');
  return drain;
}

/** Throws a RequestError with 400. */
export function parseDrainOrder(text: string): DrainOrder {
  const { worker, drain } = parsed(text) ?? {};
  if (typeof worker === 'string' && typeof drain === 'boolean') return { worker, drain };
  throw new RequestError(400, 'The body must have a worker and whether it is drained.');
}

function parsed(text: string): Partial<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // The message below says what it must be.
  }
  throw new RequestError(400, 'The body must be a JSON object, such as {"drain": true}.');
}
