import type { ComponentType } from 'preact';
import type { Health } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { rows } from '../common/fleet-store.ts';
import { shortClass } from '../common/format.ts';
import { lazy } from '../common/lazy.tsx';
import { CONNECTOR_PARTS, connectorAddress, fleetAddress, type ConnectorPart } from '../common/route.ts';
import { Tabs } from '../common/tabs.tsx';
import { VerdictBadge } from '../common/verdict-badge.tsx';
import { Async, usePolled } from '../kit/loaded.tsx';
import { texts } from '../texts/connector.ts';
import { shownVerdict, type PartProps } from './health.ts';
import { Overview } from './overview.tsx';
import './overview.css';
import { RestartNotice } from './restart-notice.tsx';

const ConfigHistory = lazy(() => import('./config-history.tsx').then((module) => module.ConfigHistory));

const PARTS: Readonly<Record<ConnectorPart, ComponentType<PartProps>>> = {
  overview: Overview,
  'dead-letters': lazy(() => import('../dead-letters/dead-letters.tsx').then((module) => module.DeadLetters)),
  data: lazy(() => import('../data/connector-data.tsx').then((module) => module.ConnectorData)),
  configuration: lazy(() => import('../editor/configuration.tsx').then((module) => module.Configuration)),
  offsets: lazy(() => import('./offsets.tsx').then((module) => module.Offsets)),
  history: (props) => <ConfigHistory {...props} />,
  log: lazy(() => import('./live-log.tsx').then((module) => module.LiveLog)),
};
/** Only sinks leave dead letters. */
const SINK_PARTS: ReadonlySet<ConnectorPart> = new Set(['dead-letters']);

interface ConnectorViewProps {
  readonly name: string;
  readonly part: ConnectorPart;
}

/** One connector: its verdict in one sentence, and the part that the address names. */
export function ConnectorView({ name, part }: ConnectorViewProps) {
  const loaded = usePolled(name, () => request<Health>('GET', `${connectorPath(name)}/health`));
  const { error } = loaded;
  const className = rows.value.find((row) => row.name === name)?.className ?? '';
  const Part = PARTS[part];
  return (
    <>
      <p>
        <a href={fleetAddress()}>← {texts.back}</a>
      </p>
      <h1>
        {name} <small>{shortClass(className)}</small>
      </h1>
      <Async of={loaded} problem={error?.status === 404 ? texts.notFound(name) : error?.message}>
        {(health) => (
          <>
            <Sentence name={name} health={health} />
            <Tabs
              label={texts.parts}
              tabs={CONNECTOR_PARTS.filter((each) => health.type === 'sink' || !SINK_PARTS.has(each)).map((each) => ({
                address: connectorAddress(name, each),
                title: texts.partTitles[each],
                isOpen: each === part,
              }))}
            />
            <Part name={name} health={health} />
          </>
        )}
      </Async>
      {error?.status === 404 ? <ConfigHistory key="deleted" name={name} /> : null}
    </>
  );
}

function Sentence({ name, health }: PartProps) {
  const { summary, restarts, verdict, since, silentWorkers } = health;
  return (
    <section class={`sentence ${shownVerdict(health).toLowerCase()}`} aria-label={texts.verdict}>
      <VerdictBadge verdict={shownVerdict(health)} />
      <p>{summary}</p>
      <RestartNotice restarts={restarts} summary={summary} />
      {verdict === 'FAILED' ? <FaultLink name={name} /> : null}
      <p class="quiet">{texts.since(new Date(since).toLocaleString())}</p>
      {silentWorkers.length === 0 ? null : <p>{texts.silent(silentWorkers.join(', '))}</p>}
    </section>
  );
}

/** Opens the first trace, which is in the overview. */
function FaultLink({ name }: { readonly name: string }) {
  return (
    <a href={connectorAddress(name)} onClick={() => openTrace()}>
      {texts.showFault}
    </a>
  );
}

const MAX_TRIES = 30;
const TRY_AGAIN_MS = 100;

/** The overview may still be loading. */
function openTrace(tries = MAX_TRIES): void {
  const trace = document.querySelector<HTMLDetailsElement>('details.trace');
  if (trace === null) {
    if (tries > 0)
      setTimeout(() => {
        openTrace(tries - 1);
      }, TRY_AGAIN_MS);
    return;
  }
  trace.open = true;
  trace.scrollIntoView({ block: 'center' });
  trace.querySelector('summary')?.focus();
}
