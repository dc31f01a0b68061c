import { chooseLauncher } from '../../src/dev/kafka/choose.ts';
import { BROKER_IDS, BrokerCluster } from './broker-cluster.ts';
import { atEndOfRun, countShared } from './services.ts';

/** The number of suites of this run that use the cluster and have not ended. */
let users = 0;
let shared: Promise<BrokerCluster> | undefined;

/**
 * Called in the `describe` of a suite that needs a cluster of three brokers. Returns the cluster that all such suites
 * share. It is started before the first of them, repaired before each of them, and stopped after the last. If brokers
 * can only run in containers, the suite is skipped.
 */
export function useBrokers(): () => BrokerCluster {
  let cluster: BrokerCluster | undefined;
  users += 1;
  before('three brokers', async function () {
    const { origin } = await chooseLauncher({ environment: process.env });
    if (origin === 'docker') this.skip();
    shared ??= startShared();
    cluster = await shared;
    await cluster.mend();
  });
  after('three brokers', async function () {
    users -= 1;
    if (users === 0) await endShared();
    else await cluster?.mend();
  });
  return () => {
    if (cluster === undefined) throw new Error('The brokers are there from the first test on');
    return cluster;
  };
}

async function startShared(): Promise<BrokerCluster> {
  const cluster = await BrokerCluster.start();
  countShared(BROKER_IDS.length);
  atEndOfRun(endShared);
  return cluster;
}

async function endShared(): Promise<void> {
  const cluster = await shared?.catch(() => undefined);
  shared = undefined;
  if (cluster === undefined) return;
  countShared(-BROKER_IDS.length);
  await cluster.discard();
}
