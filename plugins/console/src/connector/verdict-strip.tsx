import type { Health } from '../common/answers.ts';
import { durationText, shortTime } from '../common/time.ts';
import { texts } from '../texts/connector.ts';

/**
 * Shows the latest verdicts that the worker of this console has recorded, one block for each, the newest on the right.
 */
export function VerdictStrip({ verdicts }: Pick<Health, 'verdicts'>) {
  if (verdicts.length < 2) return null;
  return (
    <ol class="verdict-strip" aria-label={texts.lastVerdicts}>
      {verdicts.map(([verdict, at], index) => {
        const end = verdicts[index + 1]?.[1];
        const text = texts.verdictAt(verdict, shortTime(at), end === undefined ? undefined : durationText(end - at));
        return (
          <li key={at} class={verdict.toLowerCase()} title={text}>
            <span class="visually-hidden">{text}</span>
          </li>
        );
      })}
    </ol>
  );
}
