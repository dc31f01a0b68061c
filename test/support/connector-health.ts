import type { ConnectRest } from './rest.ts';
import { until } from './until.ts';

interface Verdict {
  readonly verdict: string;
  readonly sentence: string;
}

/** Resolves with the health of a connector once it has this verdict, with this text in its sentence. */
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
