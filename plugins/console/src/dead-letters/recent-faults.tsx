import type { DeadLetters } from '../common/answers.ts';
import { CopyButton } from '../common/copy-button.tsx';
import { isWritable } from '../common/fleet-store.ts';
import { connectorAddress } from '../common/addresses.ts';
import { deadLetterOptions } from '../editor/dead-letter-options.ts';
import { Time } from '../kit/time.tsx';
import { texts } from '../texts/dead-letters.ts';
import { faultText } from './dead-letter-record.ts';

interface RecentFaultsProps {
  readonly name: string;
  readonly found: DeadLetters;
}

/** Lists the latest faults, which the tasks keep in memory. For a sink without a dead-letter topic, it explains how to configure one. */
export function RecentFaults({ name, found: { topic, faults } }: RecentFaultsProps) {
  const { recent, unanswered } = faults;
  return (
    <>
      {topic === null ? <KeepRecords name={name} /> : null}
      {recent.length === 0 ? (
        topic === null && <p>{texts.noFaults}</p>
      ) : (
        <details class="further" open={topic === null}>
          <summary>
            {texts.lastFaults} ({recent.length})
          </summary>
          <p class="quiet">{texts.lastFaultsHint}</p>
          <ul class="plain">
            {recent.map((fault, index) => (
              <li key={index}>
                <Time class="quiet" at={fault.at} /> {texts.taskFault(fault.task)} · {faultText(fault)}
              </li>
            ))}
          </ul>
        </details>
      )}
      {unanswered.length === 0 ? null : <p class="quiet">{texts.silentTasks(unanswered.join(', '))}</p>}
    </>
  );
}

function KeepRecords({ name }: { readonly name: string }) {
  const text = JSON.stringify(deadLetterOptions(name), null, 2);
  return (
    <div class="dead-letter">
      <p>{texts.keepRecords}</p>
      <pre tabIndex={0}>{text}</pre>
      <div class="bulk">
        {isWritable.value ? (
          <a href={connectorAddress(name, 'configuration', { add: 'dead-letters' })}>{texts.addOptions}</a>
        ) : null}
        <CopyButton text={text} />
      </div>
    </div>
  );
}
