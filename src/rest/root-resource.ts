import { CONNECT_VERSION, commitId } from '../version.ts';
import { answer, type Resource } from './resource.ts';

export const rootResource: Resource = (router, { herder, kafkaClusterId }) => {
  router.get('/', (context) => {
    answer(context, 200, { version: CONNECT_VERSION, commit: commitId, kafka_cluster_id: kafkaClusterId() });
  });

  router.get('/health', (context) => {
    if (herder.ready) {
      const message = 'Worker has completed startup and is ready to handle requests.';
      answer(context, 200, { status: 'healthy', message });
      return;
    }
    const message = `Worker is still starting up. ${herder.stage.describe()}`;
    answer(context, 503, { status: 'starting', message });
  });
};
