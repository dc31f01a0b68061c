import { itAnswersAsRecorded, ONE_PER_RESOURCE } from './connect-rest-replay.ts';

describe('the REST API, against one recorded scenario of each resource', () => {
  itAnswersAsRecorded('distributed', (scenario) => ONE_PER_RESOURCE.has(scenario));
});
