/* SPDX-License-Identifier: ISC */
// Runs in the audio thread: the microphone's samples leave in packets of 20 ms, what is posted is played.
registerProcessor('microphone', class extends AudioWorkletProcessor {
	constructor() {
		super();
		this.packet = new Int16Array(320);
		this.filled = 0;
	}

	process([[channel]]) {
		for (const sample of channel ?? []) {
			this.packet[this.filled++] = Math.max(-1, Math.min(1, sample)) * 32767;
			if (this.filled < this.packet.length) continue;
			this.port.postMessage(this.packet.slice().buffer);
			this.filled = 0;
		}
		return true;
	}
});

registerProcessor('loudspeaker', class extends AudioWorkletProcessor {
	constructor() {
		super();
		this.forget();
		this.port.onmessage = ({ data }) => (data ? this.queue.push(new Int16Array(data)) : this.forget());
	}

	// What is queued is not to be played: somebody speaks.
	forget() {
		this.queue = [];
		this.at = 0;
	}

	process(inputs, [[channel]]) {
		for (let i = 0; i < channel.length && this.queue.length; i++) {
			channel[i] = this.queue[0][this.at++] / 32768;
			if (this.at < this.queue[0].length) continue;
			this.queue.shift();
			this.at = 0;
		}
		return true;
	}
});
