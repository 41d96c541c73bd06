"""The S3 of moto, by boto3. Also the XML interface of Google Cloud Storage is tested against it, whose requests are those of
S3: the emulators of Google's store that are released have its JSON interface only, which the program does not use."""

import boto3
from botocore.config import Config


class S3:
    url, forgets, completes = "s3://bucket/", True, ("POST", "uploadId=")
    faults = [None, "503", "cut", "slow"]

    def __init__(self, endpoint):
        self.client = boto3.client(
            "s3",
            endpoint_url=endpoint,
            region_name="us-east-1",
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
            config=Config(max_pool_connections=16, retries={"max_attempts": 1}),
        )
        self.client.create_bucket(Bucket="bucket")

    def put(self, key, data):
        self.client.put_object(Bucket="bucket", Key=key, Body=data)

    def get(self, key):
        return self.client.get_object(Bucket="bucket", Key=key)["Body"].read()

    def keys(self, prefix):
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket="bucket", Prefix=prefix)
        return [found["Key"] for page in pages for found in page.get("Contents", [])]

    def parts(self, key):
        tag = self.client.head_object(Bucket="bucket", Key=key)["ETag"]
        return int(tag.strip('"').partition("-")[2] or 1)

    def unfinished(self, prefix):
        uploads = self.client.list_multipart_uploads(Bucket="bucket").get("Uploads", [])
        return [it["Key"] for it in uploads if it["Key"].startswith(prefix)]


class Google(S3):
    url, faults = "gs://bucket/", [None, "cut"]
