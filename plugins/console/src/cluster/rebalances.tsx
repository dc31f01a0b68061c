import type { WorkerDetail } from '../common/answers.ts';
import { texts } from '../texts/cluster.ts';
import { rebalanceText } from './rebalance-text.ts';

/** Why work moved, what moved, and how long it took; the newest first. */
export function Rebalances({ detail: { worker, rebalances, isRebalancing } }: { readonly detail: WorkerDetail }) {
  return (
    <section aria-label={texts.rebalances}>
      <h2>{texts.rebalancesOf(worker)}</h2>
      {isRebalancing ? <p class="warning">{texts.rebalancing}</p> : null}
      {rebalances.length === 0 ? <p class="quiet">{texts.noRebalances}</p> : null}
      <ol class="rebalances">
        {rebalances.map((rebalance) => (
          <li key={rebalance.generation}>
            <time dateTime={new Date(rebalance.at).toISOString()}>{new Date(rebalance.at).toLocaleString()}</time>
            <span>{texts.because(rebalance.reason)}</span>
            <small>{rebalanceText(rebalance)}</small>
          </li>
        ))}
      </ol>
    </section>
  );
}
