import { judgeAll, type FreezeTask, type Longest } from '../freezes/watch.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';

const LISTS: readonly FreezeTask['list'][] = ['longRuns', 'runs', 'patterns', 'almostMatches'];
/** Scanners that take less time than this for each of their texts are counted but not shown. */
const SHOWN_MS = 5;

/**
 * Runs worst cases through every parser of external text: long runs of one character or piece, nested openers, and
 * texts that nearly match a regular expression of the code. Prints the longest turn of each scanner, and its ratio to
 * the turn for a ninth of the text. Fails if the time of a scanner grows faster than the length of the text.
 */
export const freezes: Repeat = {
  unit: 'lists',
  defaultCount: LISTS.length,
  async run({ count = LISTS.length, print }: RepeatOptions): Promise<boolean> {
    let problems = 0;
    let texts = 0;
    for (const list of LISTS.slice(0, count)) {
      const began = performance.now();
      const { cases, longest, findings } = await judgeAll(list);
      const bad = findings.filter(({ problem }) => problem !== undefined);
      problems += bad.length;
      texts += cases;
      const seconds = ((performance.now() - began) / 1000).toFixed(0);
      const turn = `longest turn ${(longest[0]?.tookMs ?? 0).toFixed(0)} ms`;
      print(`${bad.length === 0 ? 'ok  ' : 'FAIL'} ${list}: ${String(cases)} texts in ${seconds} s, ${turn}`);
      const shown = longest.filter(({ tookMs }) => tookMs >= SHOWN_MS);
      for (const each of shown) print(`     ${figures(each)}`);
      print(`     ${String(longest.length - shown.length)} others take less than ${String(SHOWN_MS)} ms`);
      for (const { where, problem } of bad) print(`FAIL ${where}: ${problem ?? ''}`);
    }
    print(`${String(texts)} texts, ${String(problems)} for which the time grows faster than the text`);
    return problems === 0;
  },
};

function figures({ scanner, texts, text, length, tookMs, growth }: Longest): string {
  const times = growth === undefined ? '' : `, ${growth.toFixed(1)} times that of a ninth`;
  return `${tookMs.toFixed(0).padStart(5)} ms  ${scanner} (${String(texts)} texts): ${String(length)} characters, ${text}${times}`;
}
