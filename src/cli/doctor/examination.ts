import { fail, type Finding } from '../../data/finding.ts';
import { toError } from '../../errors.ts';

/** Findings about one part of a worker's environment. */
export interface Section {
  readonly name: string;
  readonly findings: readonly Finding[];
}

/** An unreachable broker must be reported within ten seconds. */
const LIMIT_MS = 9000;

/** Runs a check for a limited time. A timeout and every error become findings. */
export async function examine(
  about: string,
  look: (signal: AbortSignal) => Promise<readonly Finding[]>,
  limitMs = LIMIT_MS,
): Promise<readonly Finding[]> {
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly Finding[]>((resolve) => {
    timer = setTimeout(() => {
      resolve([fail(about, `no answer within ${String(limitMs / 1000)} s`)]);
    }, limitMs);
  });
  try {
    return await Promise.race([look(ending.signal), late]);
  } catch (error) {
    return [fail(about, toError(error).message)];
  } finally {
    clearTimeout(timer);
    ending.abort();
  }
}
