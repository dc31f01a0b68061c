import type { ComponentType } from 'preact';
import { CLUSTER_PARTS, clusterAddress, type ClusterPart } from '../common/addresses.ts';
import { Tabs } from '../common/tabs.tsx';
import { texts } from '../texts/cluster.ts';
import './cluster.css';
import { InternalTopics } from './internal-topics.tsx';
import { Loggers } from './loggers.tsx';
import { Plugins } from './plugins.tsx';
import { Workers } from './workers.tsx';

const PARTS: Readonly<Record<ClusterPart, ComponentType>> = {
  workers: Workers,
  plugins: Plugins,
  loggers: Loggers,
  topics: InternalTopics,
};

/** The view of the cluster. `part`: the tab that the address names. */
export function ClusterView({ part }: { readonly part: ClusterPart }) {
  const Part = PARTS[part];
  return (
    <>
      <h1>{texts.cluster}</h1>
      <Tabs
        label={texts.parts}
        tabs={CLUSTER_PARTS.map((each) => ({
          address: clusterAddress(each),
          title: texts.partTitles[each],
          isOpen: each === part,
        }))}
      />
      <Part />
    </>
  );
}
