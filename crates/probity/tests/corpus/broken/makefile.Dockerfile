build:
	docker build -t app .
push: build
	docker push app
