import type { ConnectRest } from './rest.ts';
import { until } from './until.ts';

interface Verdict {
  readonly verdict: string;
  readonly sentence: string;
}

/** Waits until a connector has this verdict and the sentence of its health contains this text. Returns the health. */
export async function untilHealth<T extends Verdict>(
  rest: ConnectRest,
  name: string,
  [verdict, text]: readonly [string, RegExp],
  timeoutMs: number,
): Promise<T> {
  let seen: unknown;
  return until(
    async () => {
      const { body } = await rest.get<T>(`/connectors/${name}/health`);
      seen = body;
      return body.verdict === verdict && text.test(body.sentence) && body;
    },
    `${name} is ${verdict} with ${String(text)}`,
    { timeoutMs },
  ).catch((error: unknown) => {
    throw new Error(JSON.stringify(seen), { cause: error });
  });
}
