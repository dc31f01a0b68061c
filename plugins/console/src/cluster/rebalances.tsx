import type { WorkerDetail } from '../common/answers.ts';
import { Time } from '../kit/time.tsx';
import { texts } from '../texts/cluster.ts';
import { rebalanceEvents } from './rebalance-events.ts';
import { rebalanceText } from './rebalance-text.ts';

interface RebalancesProps {
  readonly detail: WorkerDetail;
  readonly all: readonly WorkerDetail[];
}

/**
 * Lists rebalance events, the newest first: the workers that joined or left, the number of moved connectors and tasks,
 * and the duration.
 */
export function Rebalances({ detail, all }: RebalancesProps) {
  const { worker, rebalances, isRebalancing } = detail;
  return (
    <section aria-label={texts.rebalances}>
      <h2>{texts.rebalancesOf(worker)}</h2>
      {isRebalancing ? <p class="warning">{texts.rebalancing}</p> : null}
      {rebalances.length === 0 ? <p class="quiet">{texts.noRebalances}</p> : null}
      <ol class="rebalances">
        {rebalanceEvents(all, detail).map(({ at, text, rounds }) => (
          <li key={at}>
            <details>
              <summary>
                <Time at={at} /> {text}
              </summary>
              <ul>
                {rounds.map((round) => (
                  <li key={round.generation}>
                    {texts.because(round.reason)} <small>{rebalanceText(round)}</small>
                  </li>
                ))}
              </ul>
            </details>
          </li>
        ))}
      </ol>
    </section>
  );
}
