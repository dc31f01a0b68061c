import type { ComponentType } from 'preact';
import type { FleetRow, Health } from '../common/answers.ts';
import { connectorPath, request } from '../common/api.ts';
import { causeFirst } from '../common/cause.ts';
import { isWritable, rows, skewMs } from '../common/fleet-store.ts';
import { shortClass } from '../common/format.ts';
import { lazy } from '../common/lazy.tsx';
import { CONNECTOR_PARTS, connectorAddress, fleetAddress, type ConnectorPart } from '../common/addresses.ts';
import { hints } from '../common/route.ts';
import { Tabs } from '../common/tabs.tsx';
import { durationText } from '../common/time.ts';
import { unfinished } from '../common/unfinished.ts';
import { VerdictBadge } from '../common/verdict-badge.tsx';
import { Async, usePolled } from '../kit/loaded.tsx';
import { Time } from '../kit/time.tsx';
import { texts } from '../texts/connector.ts';
import { Actions } from './actions.tsx';
import { shownVerdict, type PartProps } from './health.ts';
import { NextSteps } from './next-steps.tsx';
import { Overview } from './overview.tsx';
import './overview.css';
import { RestartNotice } from './restart-notice.tsx';
import { VerdictStrip } from './verdict-strip.tsx';

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
/** Names with more characters are shown in a smaller font. */
const LONG_NAME = 40;
/** Tabs that only sinks have. */
const SINK_PARTS: ReadonlySet<ConnectorPart> = new Set(['dead-letters']);

interface ConnectorViewProps {
  readonly name: string;
  readonly part: ConnectorPart;
}

/** The view of one connector: its verdict in one sentence, and the tab that the address names. */
export function ConnectorView({ name, part }: ConnectorViewProps) {
  const loaded = usePolled(name, () => request<Health>('GET', `${connectorPath(name)}/health`));
  const { error, value: health } = loaded;
  const row = rows.value.find((each) => each.name === name);
  const Part = PARTS[part];
  return (
    <>
      <div class="connector-head">
        <p>
          <a href={fleetAddress()}>← {texts.back}</a>
        </p>
        <h1 class={name.length > LONG_NAME ? 'long' : undefined}>
          {name} <small>{shortClass(row?.className ?? '')}</small>
        </h1>
        {health !== undefined && isWritable.value ? <Actions name={name} health={health} /> : null}
      </div>
      {health === undefined && error === undefined && row !== undefined ? <Outline row={row} part={part} /> : null}
      <Async of={loaded} problem={error?.status === 404 ? texts.notFound(name) : error?.message} loading={row && null}>
        {(found) => (
          <>
            <Sentence name={name} health={found} />
            <Parts name={name} type={found.type} part={part} />
            <Part key={`${part} ${Object.values(hints.value).join(' ')}`} name={name} health={found} />
          </>
        )}
      </Async>
      {error?.status === 404 ? <ConfigHistory key="deleted" name={name} /> : null}
    </>
  );
}

function Parts({ name, type, part }: ConnectorViewProps & Pick<Health, 'type'>) {
  const open = new Set(unfinished.value.map(({ address }) => address));
  return (
    <Tabs
      label={texts.parts}
      tabs={CONNECTOR_PARTS.filter((each) => type === 'sink' || !SINK_PARTS.has(each)).map((each) => ({
        address: connectorAddress(name, each),
        title: texts.partTitles[each],
        isOpen: each === part,
        isUnfinished: open.has(connectorAddress(name, each)),
      }))}
    />
  );
}

/** Shows the data from the list of connectors while the connector itself is loading. */
function Outline({ row, part }: { readonly row: FleetRow; readonly part: ConnectorPart }) {
  return (
    <>
      <section class={`sentence ${row.verdict.toLowerCase()}`} aria-label={texts.verdict}>
        <VerdictBadge verdict={row.verdict} />
        <p>{causeFirst(row.sentence)}</p>
      </section>
      <Parts name={row.name} type={row.type} part={part} />
      <p class="empty outline">{texts.loading}</p>
    </>
  );
}

function Sentence({ name, health }: PartProps) {
  const { summary, restarts, since, silentWorkers, verdicts } = health;
  const age = durationText(Date.now() - skewMs.value - Date.parse(since));
  return (
    <section class={`sentence ${shownVerdict(health).toLowerCase()}`} aria-label={texts.verdict}>
      <div class="verdict-line">
        <VerdictBadge verdict={shownVerdict(health)} />
        <span class="quiet">
          {texts.forTime(age)} <Time at={since} />
        </span>
        <VerdictStrip verdicts={verdicts} />
      </div>
      <p title={summary}>{causeFirst(summary)}</p>
      <RestartNotice restarts={restarts} summary={summary} />
      <NextSteps name={name} health={health} />
      {silentWorkers.length === 0 ? null : <p>{texts.silent(silentWorkers.join(', '))}</p>}
    </section>
  );
}
