import { parentPort, workerData } from 'node:worker_threads';
import { judge } from './judge.ts';
import { CASE_LISTS } from './cases.ts';
import type { Finding, FreezeTask, Longest } from './watch.ts';

const { list, from, progress } = workerData as FreezeTask;
const cases = CASE_LISTS[list]();
const longest = new Map<string, Longest>();
for (let index = from; index < cases.length; index++) {
  const freezeCase = cases.at(index);
  Atomics.store(progress, 0, index);
  const { tookMs, growth, problem } = judge(freezeCase);
  Atomics.add(progress, 1, 1);
  const { scanner, text, length } = freezeCase;
  const before = longest.get(scanner.name);
  const texts = (before?.texts ?? 0) + 1;
  longest.set(
    scanner.name,
    before !== undefined && before.tookMs >= tookMs
      ? { ...before, texts }
      : { scanner: scanner.name, texts, text: text.name, length, tookMs, growth },
  );
  if (problem !== undefined || tookMs > freezeCase.floorMs) {
    const finding: Finding = { where: `${scanner.name}: ${text.name}`, tookMs, problem };
    parentPort?.postMessage(finding);
  }
}
parentPort?.postMessage([...longest.values()]);
