/* SPDX-License-Identifier: ISC */
// Runs in the audio thread: sends the microphone's samples in packets of 20 ms, and plays what is posted to it.
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

	// Drops what is queued, as somebody has begun to speak.
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
